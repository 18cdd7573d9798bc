import { createHmac } from 'node:crypto';
import { hasSealingKey, loadSealingKey, type KeySource } from '../webhooks/secret.ts';
import type { Manifest } from './manifest.ts';

/** The key in use, and its description in a backup; null if none was created yet. */
export function presentKey(source: KeySource): { readonly key: Buffer; readonly description: Manifest['key'] } | null {
  if (!hasSealingKey(source)) return null;
  const key = loadSealingKey(source);
  return { key, description: { kind: source.secretKey === null ? 'file' : 'setting', check: keyCheck(key) } };
}

/** Shows whether a key is the same, and nothing else about it. */
export function keyCheck(key: Uint8Array): string {
  return createHmac('sha256', key).update('cointill backup').digest('hex');
}
