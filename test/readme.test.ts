import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config/config.ts';
import { EVM_NETWORKS } from '../src/domain/networks.ts';

const ROOT = path.join(import.meta.dirname, '..');
const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');

const settings = settingsRead();
/** How the settings of EVM networks begin. */
const OTHER_EVM = new RegExp(`^(?:${EVM_NETWORKS.join('|')})_(?=RPC_URL|CHAIN_ID|TOKENS)`, 'i');

function settingsRead(): ReadonlySet<string> {
  const read = new Set<string>();
  const asking = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void read.add(String(name)) });
  readConfig(asking, ROOT);
  return read;
}

it('the help of start names every setting, those of the EVM networks by Ethereum’s', async () => {
  const source = await readFile(path.join(ROOT, 'src/cli/start.ts'), 'utf8');
  const help = /const SETTINGS = `([^`]*)`/.exec(source)?.[1] ?? '';
  const named = new Set(help.match(/\b[A-Z][A-Z_]+\b/g));
  const missing = [...settings].filter((name) => !named.has(name.replace(OTHER_EVM, 'ETHEREUM_')));
  expect(missing).toEqual([]);
});

describe('the README', () => {
  it('lists every setting that the program reads, and no other', () => {
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const listed = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect(new Set(listed)).toEqual(settings);
    expect(listed).toHaveLength(new Set(listed).size);
  });

  it('links to files that are there', () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target]) => target ?? '');
    expect(targets).toContain('ARCHITECTURE.md');
    expect(targets.filter((target) => !existsSync(path.join(ROOT, target)))).toEqual([]);
  });
});

describe('.env.example', async () => {
  const lines = (await readFile(path.join(ROOT, '.env.example'), 'utf8')).split('\n');
  const examples = lines.flatMap((line) => {
    const [, name, value = ''] = /^#([A-Z][A-Z_]+)=(.*)$/.exec(line) ?? [];
    return name === undefined ? [] : [[name, value] as const];
  });

  it('has every setting that the program reads once, and no other', () => {
    const names = examples.map(([name]) => name);
    expect(new Set(names)).toEqual(settings);
    expect(names).toHaveLength(new Set(names).size);
  });

  it('sets nothing as it is: every setting is behind a #', () => {
    expect(lines.filter((line) => line !== '' && !line.startsWith('#'))).toEqual([]);
  });

  it('has values that the program takes, all together', () => {
    const env = Object.fromEntries(examples);
    // Files that have to be there.
    const { TLS_CERT: _cert, TLS_KEY: _key, ...taken } = env;
    expect(() => readConfig(taken, ROOT)).not.toThrow();
  });
});
