import { readFileSync } from 'node:fs';
import path from 'node:path';

/** This program's version, from package.json. */
export function version(): string {
  const text = readFileSync(path.join(import.meta.dirname, '../../package.json'), 'utf8');
  const parsed: unknown = JSON.parse(text);
  const found = typeof parsed === 'object' && parsed !== null && 'version' in parsed ? parsed.version : undefined;
  return typeof found === 'string' ? found : 'unknown';
}
