import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
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

it('no statement reads every column of a table: a prepared one would fail for good once the table has another', () => {
  const stars = globSync('**/*.ts', { cwd: import.meta.dirname })
    .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
    .flatMap((file) =>
      starsIn(readFileSync(path.join(import.meta.dirname, file), 'utf8')).map((star) => ({ file, star })),
    );
  expect(stars).toEqual([]);
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
