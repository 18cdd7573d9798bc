import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, inject, it, onTestFinished } from 'vitest';
import { MIGRATIONS_FOLDER } from '../src/store/migration-files.ts';
import { refusedInMigration, refusedStatements } from './citus-forms.ts';
import { testDatabase } from './database.ts';
import { testApp } from './harness.ts';

/** Each form as the store once had it. */
const FORMS: Readonly<Record<string, readonly [refused: string, taken: string]>> = {
  'several commands in one query': [
    'update projects set name = name; delete from leases',
    'begin isolation level repeatable read; set local jit = off',
  ],
  'a recursion in a statement that changes or locks rows': [
    `with recursive waiting (id) as (select 1::bigint union all select id + 1 from waiting where id < 3)
     update deliveries d set attempts = 1 from waiting where d.id = waiting.id`,
    'with recursive waiting (id) as (select 1::bigint union all select id + 1 from waiting where id < 3) select id from waiting',
  ],
  'a notification in a statement that changes rows': [
    "update chain_cursors set poll_wanted = poll_wanted + 1 where network = $1 returning pg_notify('cointill', 'poll')",
    "select pg_notify('cointill', $1)",
  ],
  'an insert that joins stored rows to its parameters by an outer join': [
    `insert into payment_languages (payment_id, language) select t.payment_id, p.currency
     from json_to_recordset($1::json) as t (payment_id uuid) left join payments p on p.id = t.payment_id`,
    `insert into payment_languages (payment_id, language) select t.payment_id, f.currency
     from json_to_recordset($1::json) as t (payment_id uuid) left join json_to_recordset($2::json) as f (id uuid, currency text) on f.id = t.payment_id`,
  ],
  'an update by a function of a column (jsonb_build_object)': [
    "update payments set metadata = jsonb_build_object('order_id', metadata -> 'order_id') where id = $1",
    "update payments set metadata = jsonb_set('{}', '{order_id}', metadata -> 'order_id') where id = $1",
  ],
  'an update by a function of a column (array_to_string)': [
    "update api_requests set error = null where array_to_string(request_ids, ' ') ~ $1",
    "with found as materialized (select last_id from api_requests where array_to_string(request_ids, ' ') ~ $1) update api_requests r set error = null from found where r.last_id = found.last_id",
  ],
  'an update by a function of a column (timestamptz_pl_interval)': [
    "delete from payment_figures f where f.at + interval '1 hour' < $1",
    "delete from payment_figures f where f.at < $1::timestamptz - interval '1 hour'",
  ],
  'an update by a function of a column (to_char)': [
    `insert into leases (name, holder, until) values ($1, $2, $3) on conflict (name) do update set holder = to_char(leases.until, 'YYYY')`,
    'insert into leases (name, holder, until) values ($1, $2, $3) on conflict (name) do update set holder = excluded.holder',
  ],
  'an update by a function of a column (a text of it)': [
    'update leases set holder = until::text where name = $1',
    'update leases set holder = $2::timestamptz::text where name = $1',
  ],
  'a temporary table beside stored ones': [
    'select count(*) from sums s where exists (select from payments p where p.id = s.id)',
    'select count(*) from sums',
  ],
};

it.each(Object.entries(FORMS))(
  '%s is found in a statement, and its other form is taken',
  async (form, [refused, taken]) => {
    const client = await (await testDatabase()).connect();
    onTestFinished(() => client.end());
    const sums = { from: 'sums', text: 'create temporary table sums on commit drop as select id from payments' };
    const lines = await refusedStatements(client, [
      sums,
      { from: 'one', text: refused },
      { from: 'other', text: taken },
    ]);
    expect(lines).toEqual([expect.stringMatching(/^one: /)]);
    expect(lines[0]?.slice(5)).toContain(`${form}: `);
  },
);

it.each([
  ['a column added together with a check', "alter table projects add column kind text check (kind in ('a', 'b'))"],
  [
    'a column added together with a foreign key',
    'alter table projects\n  add column a text,\n  add column other uuid references projects (id)',
  ],
  [
    'a column and a check of it',
    'alter table projects add column kind text, add constraint kinds check (kind <> $$$$)',
  ],
  ['set storage', 'alter table projects alter column name set storage external'],
  ['a trigger', 'create trigger told after insert on events for each statement execute function tell()'],
])('%s is found in a migration', (_, text) => {
  expect(
    refusedInMigration(`-- A comment; with a check.\ncreate table some (id int check (id > 0));\n${text};\n`),
  ).toHaveLength(1);
});

/** Earlier ones were released. */
const FIRST_HELD = '0072';

it('the migrations from now on, and what they are split into, have no form that Citus refuses', () => {
  const names = readdirSync(MIGRATIONS_FOLDER).filter((name) => name.endsWith('.sql'));
  const formsOf = (name: string) => refusedInMigration(readFileSync(path.join(MIGRATIONS_FOLDER, name), 'utf8'));
  expect(names.filter((name) => name >= FIRST_HELD).flatMap(formsOf)).toEqual([]);
  // Released ones have each of them.
  const found = new Set(names.flatMap(formsOf).map((line) => line.split(':')[0]));
  expect(found).toEqual(new Set(['a column added together with a check or a key', 'set storage', 'a trigger']));
});

it('a statement of the program is noted, with the file that sends it', async () => {
  const app = await testApp();
  await app.pay();
  const noted = readFileSync(inject('statements'), 'utf8');
  const files = noted
    .split('\n')
    .flatMap((line) => (line.includes('new_payments as (') ? [JSON.parse(line).from] : []));
  // Other tests note it too.
  expect([...new Set(files)]).toEqual(['/src/app/payments/create-payment.ts']);
});
