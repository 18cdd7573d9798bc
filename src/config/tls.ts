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
 * Reads `TLS_CERT` and `TLS_KEY`, and checks the content of their files now: the servers read the files again only when
 * they start, too late for a message that names every invalid setting. Null: neither is set.
 */
export function readTlsFiles(
  cert: string | null,
  key: string | null,
  cwd: string,
  problems: string[],
): TlsFiles | null {
  if (cert === null && key === null) return null;
  if (cert === null || key === null) {
    problems.push('TLS_CERT and TLS_KEY must be set together, each to the path of a PEM file.');
    return null;
  }
  const files = { certFile: path.resolve(cwd, cert), keyFile: path.resolve(cwd, key) };
  const unusable = [
    pemProblem('TLS_CERT', files.certFile, 'certificate'),
    pemProblem('TLS_KEY', files.keyFile, 'private key'),
  ].filter((problem) => problem !== null);
  problems.push(...(unusable.length > 0 ? unusable : pairProblems(files)));
  return files;
}

const PARSERS = { certificate: (text: string) => new X509Certificate(text), 'private key': createPrivateKey };

/** The problem with the PEM file of a setting, with the way out; null: the file holds the certificate or key. */
export function pemProblem(name: string, file: string, content: keyof typeof PARSERS): string | null {
  let text: string;
  try {
    text = pem(file);
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return `${name}: there is no file ${file}.`;
    if (code === 'EISDIR') return `${name}: ${file} is a folder, but must be a PEM file.`;
    if (code === 'EACCES') return `${name}: this user may not read ${file}.`;
    return `${name}: ${file} cannot be read (${code}).`;
  }
  try {
    PARSERS[content](text);
    return null;
  } catch {
    return content === 'private key' && text.includes('ENCRYPTED')
      ? `${name}: ${file} is encrypted. Save the key without a passphrase: openssl pkey -in ${file} -out NEW_FILE.`
      : `${name}: ${file} contains no ${content} in PEM format (-----BEGIN ${content.toUpperCase()}-----).`;
  }
}

function pairProblems({ certFile, keyFile }: TlsFiles): readonly string[] {
  const [cert, key] = [pem(certFile), pem(keyFile)];
  if (!new X509Certificate(cert).checkPrivateKey(createPrivateKey(key))) {
    return [
      `TLS_KEY: ${keyFile} is not the key of the certificate in TLS_CERT, ${certFile}. Set both to files that belong together.`,
    ];
  }
  try {
    createSecureContext({ cert, key });
    return [];
  } catch (error) {
    // The chain is damaged, or the key is too weak for today's TLS.
    const reason = error instanceof Error ? error.message : String(error);
    return [`TLS_CERT and TLS_KEY cannot be used for HTTPS (${reason}). Set both to a pair that works for HTTPS.`];
  }
}

function pem(file: string): string {
  return readFileSync(file, 'utf8');
}

/** The fault of another server's certificate, by Node's error code; null: the error is not about the certificate. */
export function certificateFault(code: string): 'authority' | 'host' | 'time' | null {
  if (UNKNOWN_AUTHORITY.has(code)) return 'authority';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'host';
  return code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID' ? 'time' : null;
}

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);
