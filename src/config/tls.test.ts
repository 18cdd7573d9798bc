import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

let folder: string;

beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'cointill-tls-'));
  for (const name of ['shop', 'other']) makePair(name);
  execFileSync('openssl', ['pkey', '-in', 'shop.key', '-aes256', '-passout', 'pass:shop', '-out', 'locked.key'], {
    cwd: folder,
  });
  writeFileSync(path.join(folder, 'notes.txt'), 'Not PEM.\n');
  writeFileSync(path.join(folder, 'damaged.pem'), readFileSync(path.join(folder, 'shop.pem'), 'utf8').slice(0, 200));
  mkdirSync(path.join(folder, 'certs'));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

function makePair(name: string): void {
  const subject = ['-subj', `/CN=${name}.example`, '-keyout', `${name}.key`, '-out', `${name}.pem`];
  execFileSync(
    'openssl',
    ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2', ...subject],
    { cwd: folder, stdio: 'ignore' },
  );
}

function problemsOf(cert: string, key: string): readonly string[] {
  try {
    readConfig({ TLS_CERT: cert, TLS_KEY: key }, folder);
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

const at = (name: string): string => path.join(folder, name);

it('a certificate and its own key are taken, by paths from where the program was started', () => {
  expect(problemsOf('shop.pem', 'shop.key')).toEqual([]);
  expect(readConfig({ TLS_CERT: 'shop.pem', TLS_KEY: at('shop.key') }, folder)).toMatchObject({
    tls: { certFile: at('shop.pem'), keyFile: at('shop.key') },
    baseUrl: 'https://127.0.0.1:4000',
  });
});

it('every file that is not there, is a folder or is no PEM is named with its setting, both at once', () => {
  expect(problemsOf('none.pem', 'notes.txt/none.key')).toEqual([
    `TLS_CERT: there is no file ${at('none.pem')}.`,
    `TLS_KEY: there is no file ${at('notes.txt/none.key')}.`,
  ]);
  expect(problemsOf('certs', 'certs')).toEqual([
    `TLS_CERT: ${at('certs')} is a folder, but must be a PEM file.`,
    `TLS_KEY: ${at('certs')} is a folder, but must be a PEM file.`,
  ]);
  expect(problemsOf('notes.txt', 'notes.txt')).toEqual([
    `TLS_CERT: ${at('notes.txt')} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----).`,
    `TLS_KEY: ${at('notes.txt')} contains no private key in PEM format (-----BEGIN PRIVATE KEY-----).`,
  ]);
  // Taken for each other, and cut short.
  expect(problemsOf('shop.key', 'damaged.pem')).toEqual([
    `TLS_CERT: ${at('shop.key')} contains no certificate in PEM format (-----BEGIN CERTIFICATE-----).`,
    `TLS_KEY: ${at('damaged.pem')} contains no private key in PEM format (-----BEGIN PRIVATE KEY-----).`,
  ]);
});

it('an encrypted key is refused with the command that decrypts it', () => {
  expect(problemsOf('shop.pem', 'locked.key')).toEqual([
    `TLS_KEY: ${at('locked.key')} is encrypted. Save the key without a passphrase: openssl pkey -in ${at('locked.key')} -out NEW_FILE.`,
  ]);
});

it('the key of another certificate is refused', () => {
  expect(problemsOf('shop.pem', 'other.key')).toEqual([
    `TLS_KEY: ${at('other.key')} is not the key of the certificate in TLS_CERT, ${at('shop.pem')}. Set both to files that belong together.`,
  ]);
});

it('a chain that is damaged behind the certificate is refused', () => {
  writeFileSync(at('chain.pem'), `${readFileSync(at('shop.pem'), 'utf8')}${readFileSync(at('damaged.pem'), 'utf8')}`);
  expect(problemsOf('chain.pem', 'shop.key')).toEqual([
    expect.stringMatching(
      /^TLS_CERT and TLS_KEY cannot be used for HTTPS \(.*\)\. Set both to a pair that works for HTTPS\.$/,
    ),
  ]);
});
