import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../src/config.ts';

const ROOT = path.join(import.meta.dirname, '..');
const readme = await readFile(path.join(ROOT, 'README.md'), 'utf8');

describe('the README', () => {
  it('lists every setting that the program reads, and no other', () => {
    const read = new Set<string>();
    const asking = new Proxy<Record<string, string | undefined>>({}, { get: (_, name) => void read.add(String(name)) });
    readConfig(asking, ROOT);
    const rows = readme.split('\n').filter((line) => line.startsWith('| `'));
    const listed = rows.flatMap((row) =>
      [...(row.split('|')[1] ?? '').matchAll(/`([A-Z][A-Z_]+)`/g)].map(([, name]) => name),
    );
    expect(new Set(listed)).toEqual(read);
    expect(listed).toHaveLength(new Set(listed).size);
  });

  it('links to files that are there', () => {
    const targets = [...readme.matchAll(/\]\((?!https?:)([^)#]+)\)/g)].map(([, target]) => target ?? '');
    expect(targets).toContain('ARCHITECTURE.md');
    expect(targets.filter((target) => !existsSync(path.join(ROOT, target)))).toEqual([]);
  });
});
