import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { PAYMENT_STATUSES } from '../domain/status.ts';
import { TABLES } from './tables.ts';

const TABLE = `(?:${Object.keys(TABLES).join('|')})`;
/** Every column of a table, whatever columns a newer version adds to that table. */
const STARS = [
  /\b(?:selectAll|returningAll)\s*\(/g,
  /\breturning\s+(?:\w+\.)?\*/gi,
  new RegExp(`(?<!\\.)\\*\\s+from\\s+${TABLE}\\b`, 'gi'),
  new RegExp(`\\b${TABLE}\\.\\*`, 'g'),
  // The table's other name within the same text.
  new RegExp(`\\b(\\w+)\\.\\*[^\`]*\\b(?:from|join)\\s+${TABLE}\\s+(?:as\\s+)?\\1\\b`, 'gi'),
];

const starsIn = (text: string): readonly string[] => STARS.flatMap((star) => text.match(star) ?? []);

const findings = (find: (text: string) => readonly string[]): readonly string[] =>
  globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) =>
      find(readFileSync(path.join(import.meta.dirname, file), 'utf8')).map((one) => `${file}: ${one}`),
    );

it('no statement reads every column of a table: a prepared one would fail for good once the table has another', () => {
  expect(findings(starsIn)).toEqual([]);
});

it('a group of statuses comes from the table of statuses, so that no statement forgets a new status', () => {
  const own = 'prepared|processing|confirming';
  const any = PAYMENT_STATUSES.join('|');
  const group = new RegExp(`\\b(?:(?:${own})'?,\\s*'?(?:${any})|(?:${any})'?,\\s*'?(?:${own}))\\b.*`, 'g');
  expect(findings((text) => text.match(group) ?? [])).toEqual([]);
});

it.each([
  "db.selectFrom('sweeps').selectAll('sweeps')",
  'update sweeps set state = 1 returning *',
  'select * from payments where id = 1',
  'select payments.* from payments',
  'select s.* from sweeps s',
  'select s.*, 1 from people join sweeps as s on true',
])('%s is found', (text) => {
  expect(starsIn(text)).not.toEqual([]);
});
