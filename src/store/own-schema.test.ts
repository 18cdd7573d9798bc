import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const SRC = path.join(import.meta.dirname, '..');

/** The key of these locks may be the same in every schema. */
const SHARED = [
  // A server of one's own has one installation.
  'embedded/usage-lock.ts',
  // Random numbers, to find out whether two connections lead to one database.
  'store/backups/check-database.ts',
];

/** The calls that take or release an advisory lock, to the ends of their lines. */
const calls = (text: string): readonly string[] => text.match(/pg_(?:try_)?advisory_\w+\(.*|\$\{how\}\(.*/g) ?? [];

const files = globSync('**/*.ts', { cwd: SRC }).filter(
  (file) => !/\.(?:test|fixture)\.ts$/.test(file) && !SHARED.includes(file),
);

it('the key of every advisory lock belongs to the schema', () => {
  const found = files.flatMap((file) =>
    calls(readFileSync(path.join(SRC, file), 'utf8')).map((call) => ({ file, call })),
  );
  expect(found.length).toBeGreaterThan(12);
  expect(found.filter(({ call }) => !/# \$\{(?:SALT|salt)\}/.test(call))).toEqual([]);
});

it('no statement names a schema, and none sends on a channel of all schemas', () => {
  const named =
    /\bpublic\.\w+|'public'::regnamespace|(?:schemaname|table_schema) = 'public'|pg_notify\('|to_regnamespace\(current_schema/;
  const found = files.filter((file) => named.test(readFileSync(path.join(SRC, file), 'utf8')));
  expect(found).toEqual([]);
});
