import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { KEY_FILE_NAME, loadSealingKey } from '../webhooks/secret.ts';
import type { Manifest } from './manifest.ts';

/** Where a sealing key comes from. */
export interface KeySource {
  /** SECRET_KEY; null: not set. */
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** The sealing key in use, and what a backup says of it; null where none was made yet. */
export function presentKey(source: KeySource): { readonly key: Buffer; readonly description: Manifest['key'] } | null {
  if (source.secretKey === null && !existsSync(path.join(source.dataDir, KEY_FILE_NAME))) return null;
  const key = loadSealingKey({ secretKey: source.secretKey ?? undefined, dataDir: source.dataDir });
  return { key, description: { kind: source.secretKey === null ? 'file' : 'setting', check: keyCheck(key) } };
}

/** Tells whether a key is the same one, and nothing else of it. */
export function keyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('cointill backup').digest('hex');
}
