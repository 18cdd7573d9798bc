import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import { KEY_FILE_NAME, loadSealingKey } from '../webhooks/secret.ts';
import type { Manifest } from './manifest.ts';

/** Where the key comes from. */
export interface KeySource {
  /** SECRET_KEY; null: not set. */
  readonly secretKey: string | null;
  readonly dataDir: string;
}

/** The key in use, and its description in a backup; null if none was created yet. */
export function presentKey(source: KeySource): { readonly key: Buffer; readonly description: Manifest['key'] } | null {
  if (source.secretKey === null && !existsSync(path.join(source.dataDir, KEY_FILE_NAME))) return null;
  const key = loadSealingKey({ secretKey: source.secretKey ?? undefined, dataDir: source.dataDir });
  return { key, description: { kind: source.secretKey === null ? 'file' : 'setting', check: keyCheck(key) } };
}

/** Shows whether a key is the same, and nothing else about it. */
export function keyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('cointill backup').digest('hex');
}
