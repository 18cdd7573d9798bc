import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { createSecureContext } from 'node:tls';

/** The paths of the certificate (with its chain) and its private key, both in PEM. */
export interface TlsFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/**
 * The files of `TLS_CERT` and `TLS_KEY`, after checking their content: they are read again when the servers start,
 * which is after the database and too late for a message that names every invalid setting. Null if neither is set.
 */
export function readTlsFiles(
  cert: string | null,
  key: string | null,
  cwd: string,
  problems: string[],
): TlsFiles | null {
  if (cert === null && key === null) return null;
  if (cert === null || key === null) {
    problems.push('TLS_CERT and TLS_KEY must be set together, each the path of a PEM file.');
    return null;
  }
  const files = { certFile: path.resolve(cwd, cert), keyFile: path.resolve(cwd, key) };
  const problem = [certificateProblem(files.certFile), keyProblem(files.keyFile)].filter((one) => one !== null);
  if (problem.length === 0) problem.push(...pairProblems(files));
  problems.push(...problem);
  return files;
}

function certificateProblem(file: string): string | null {
  return (
    readingProblem('TLS_CERT', file) ??
    (isUsable(() => new X509Certificate(pem(file)))
      ? null
      : `TLS_CERT: ${file} holds no certificate in PEM (-----BEGIN CERTIFICATE-----).`)
  );
}

function keyProblem(file: string): string | null {
  const problem = readingProblem('TLS_KEY', file);
  if (problem !== null || isUsable(() => createPrivateKey(pem(file)))) return problem;
  return /ENCRYPTED/.test(pem(file))
    ? `TLS_KEY: ${file} is encrypted. Write it without a passphrase: openssl pkey -in ${file} -out NEW_FILE.`
    : `TLS_KEY: ${file} holds no private key in PEM (-----BEGIN PRIVATE KEY-----).`;
}

function pairProblems({ certFile, keyFile }: TlsFiles): readonly string[] {
  const [cert, key] = [pem(certFile), pem(keyFile)];
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return [`TLS_KEY: ${keyFile} is not the key of the certificate in TLS_CERT, ${certFile}. Set both to one pair.`];
  }
  try {
    createSecureContext({ cert, key });
    return [];
  } catch (error) {
    // A damaged chain, or a key that is too weak for today's TLS.
    const reason = error instanceof Error ? error.message : String(error);
    return [`TLS_CERT and TLS_KEY cannot be used for HTTPS (${reason}). Set both to a pair that can.`];
  }
}

function readingProblem(name: string, file: string): string | null {
  try {
    pem(file);
    return null;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return `${name}: there is no file ${file}.`;
    if (code === 'EISDIR') return `${name}: ${file} is a folder; it must be a PEM file.`;
    if (code === 'EACCES') return `${name}: this user may not read ${file}.`;
    return `${name}: ${file} cannot be read (${code}).`;
  }
}

function isUsable(parse: () => unknown): boolean {
  try {
    parse();
    return true;
  } catch {
    return false;
  }
}

function pem(file: string): string {
  return readFileSync(file, 'utf8');
}
