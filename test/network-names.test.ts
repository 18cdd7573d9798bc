import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { NETWORKS } from '../src/domain/networks.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** Where a network may be named, and why; everything else goes by its row in the registry, or by its family. */
const NAMES_NETWORKS: ReadonlyMap<string, string> = new Map([
  ['src/domain/networks.ts', 'the registry'],
  ['src/domain/payment-uri.ts', 'the scheme of EIP-681'],
  ['src/rails/utxo/params.ts', 'the first blocks and the addresses of the chains of the UTXO family'],
  ['src/rails/utxo/extended-key.ts', 'the version bytes of their extended keys'],
  ['src/app/webhooks/sample-events.ts', 'sample events'],
  ['src/http/docs/guide.ts', 'sample requests'],
  ['src/http/orders/schema.ts', 'sample orders'],
  ['src/http/refunds/schema.ts', 'sample refunds'],
]);

const names = NETWORKS.join('|');
/** A network's name as a string, or as the key of a table. `base:` alone is also a key of other options. */
const NAMED = new RegExp(`'(?:${names})'|(?<![\\w'])(?:${names.replace('|base', '')}): `);
const COMMENT = /\/\*[\s\S]*?\*\/|(?<!:)\/\/.*/g;

/** The lines of the program that name a network, outside of comments. */
function linesThatName(file: string): readonly string[] {
  const code = readFileSync(path.join(ROOT, file), 'utf8').replaceAll(COMMENT, (text) => text.replaceAll(/[^\n]/g, ''));
  return code.split('\n').flatMap((line, at) => (NAMED.test(line) ? [`${file}:${at + 1}: ${line.trim()}`] : []));
}

const files = globSync('{src,web}/**/*.ts', { cwd: ROOT, exclude: ['web/dist/**'] })
  .filter((file) => !/\.(?:test|fixture)\.ts$/.test(file))
  .toSorted();

it('a network is named in its row alone: whatever differs from network to network can be added in one place', () => {
  expect(files.filter((file) => !NAMES_NETWORKS.has(file)).flatMap(linesThatName)).toEqual([]);
});

it('every place that may name networks is there and does', () => {
  const idle = [...NAMES_NETWORKS.keys()].filter((file) => !files.includes(file) || linesThatName(file).length === 0);
  expect(idle).toEqual([]);
});
