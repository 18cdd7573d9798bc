import { sql } from 'kysely';
import type { Client } from 'pg';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { testDatabase } from '../../test/database.ts';
import { WAIT } from '../../test/deadline.ts';
import { migratedPlace, openPlace, sharedDatabase, type Place, type SharedDatabase } from '../../test/schemas.ts';
import type { DatabaseHandle, Trx } from './database.ts';
import { migrate, MIGRATION_LOCK } from './migrate.ts';
import { SALT } from './own-schema.ts';
import { UnfitDatabaseError } from './unfit-database.ts';
import { lockNoticedItems } from './figures/noticed-items.ts';
import { listen, notifyAccess, notifySessions } from './notifications.ts';
import { lockChoices } from './people/mails.ts';
import { lockPeople } from './people/people.ts';
import { lockProjectChoices } from './people/project-choices.ts';
import { holdAlone } from './presence.ts';
import { lockWalletCoins } from './refunds/refund-coins.ts';
import { takeExportSlot } from './reports/payment-export.ts';
import { takeBooksSlot } from './reports/report-books.ts';
import { lockSweeps } from './sweeps/sweeps.ts';
import { NUMBERING_LOCK, numberEvents } from './webhooks/event-positions.ts';

const ID = '019a0000-0000-7000-8000-000000000000';

let shared: SharedDatabase;
beforeEach(async () => {
  shared = await sharedDatabase();
});

async function connect(handle: DatabaseHandle): Promise<Client> {
  const client = await handle.connect();
  onTestFinished(() => client.end());
  return client;
}

/** Two installations in one database. */
async function neighbours(): Promise<readonly [DatabaseHandle, DatabaseHandle]> {
  return [await migratedPlace(await shared.place('one')), await migratedPlace(await shared.place('other'))];
}

it('an installation hears its own notifications and wake-ups, and none of its neighbour in the same database', async () => {
  const [one, other] = await neighbours();
  const [own, foreign] = [listen(one), listen(other)];
  onTestFinished(() => own.stop());
  onTestFinished(() => foreign.stop());
  await vi.waitFor(() => expect([own.healthy(), foreign.healthy()]).toEqual([true, true]), WAIT);
  const heard: string[] = [];
  foreign.on('access', () => heard.push('access'));
  foreign.on('deliveries', () => heard.push('deliveries'));
  foreign.on('sessions', ([person]) => heard.push(person));
  await notifyAccess(one.db);
  one.wakeups.send(['deliveries']);
  await one.wakeups.flush();
  // The neighbour's would have been heard before a later one of its own.
  await other.db.transaction().execute((trx) => notifySessions(trx, ID));
  await vi.waitFor(() => expect(heard).toEqual([ID]), WAIT);
});

type Session = { readonly client: Client };
/** Takes a lock and keeps it until the work of `held` is done; false if somebody else has it. */
type Take = (handle: DatabaseHandle, held: () => Promise<void>) => Promise<boolean>;

const waiting =
  (lock: (trx: Trx) => Promise<unknown>): Take =>
  async ({ db }, held) =>
    db.transaction().execute(async (trx) => {
      await sql`set local lock_timeout = '100ms'`.execute(trx);
      const isTaken = await lock(trx).then(
        () => true,
        (error: unknown) => {
          expect(error).toMatchObject({ code: '55P03' });
          return false;
        },
      );
      if (isTaken) await held();
      return isTaken;
    });

const session =
  (lock: (session: Session) => Promise<boolean>): Take =>
  async (handle, held) => {
    const client = await connect(handle);
    const isTaken = await lock({ client });
    if (isTaken) await held();
    await client.end();
    return isTaken;
  };

const LOCKS: Readonly<Record<string, Take>> = {
  people: waiting(lockPeople),
  'choices of a person': waiting((trx) => lockChoices(trx, ID)),
  'choices for a project': waiting((trx) => lockProjectChoices(trx, ID, ID)),
  'attention items': waiting(lockNoticedItems),
  'coins of a wallet': waiting((trx) => lockWalletCoins(trx, 'bitcoin', 'bc1q')),
  sweeps: waiting((trx) => lockSweeps(trx, ID)),
  'an export of a person': session(async ({ client }) => (await takeExportSlot(client, ID, true)) === 'taken'),
  'the exports of people who lead nothing': session(
    async ({ client }) => (await takeExportSlot(client, null, false)) === 'taken',
  ),
  statements: session(({ client }) => takeBooksSlot(client, ID)),
  presence: session(async ({ client }) => (await holdAlone(client)).length === 0),
};

it.each(Object.keys(LOCKS))('the lock of %s holds in its own installation, and not in its neighbour', async (name) => {
  const [one, other] = await neighbours();
  const take = LOCKS[name];
  const outcomes: unknown[] = [];
  await take?.(one, async () => {
    outcomes.push(await take(one, async () => {}), await take(other, async () => {}));
  });
  expect(outcomes).toEqual([false, true]);
});

it('the numbering of events and a migration wait for their own installation alone', async () => {
  const [one, other] = await neighbours();
  const queued = sql`insert into unnumbered_events (event_id) values (${ID})`;
  for (const { db } of [one, other]) await queued.execute(db);
  const holder = await connect(one);
  await holder.query('begin');
  await holder.query(`select pg_advisory_xact_lock(key # ${SALT}) from unnest($1::bigint[]) key`, [
    [NUMBERING_LOCK, MIGRATION_LOCK],
  ]);
  for (const { db } of [one, other]) await db.transaction().execute((trx) => numberEvents(trx));
  const left = ({ db }: DatabaseHandle) => db.selectFrom('unnumbered_events').select('event_id').execute();
  expect([(await left(one)).length, (await left(other)).length]).toEqual([1, 0]);

  let isDone = false;
  const migrating = migrate(await connect(one)).then(() => (isDone = true));
  await migrate(await connect(other));
  expect(isDone).toBe(false);
  await holder.query('commit');
  await migrating;
});

it('in the schema public the channel and the numbers are those of earlier versions, which may run beside this one', async () => {
  const database = await testDatabase();
  const client = await connect(database);
  await client.query('listen cointill');
  const heard = new Promise((resolve) => client.once('notification', ({ payload }) => resolve(payload)));
  await notifyAccess(database.db);
  expect(await heard).toBe('access');
  await client.query('select pg_advisory_lock($1)', [7_203_612]);
  expect(await holdAlone(await connect(database))).toEqual(['cointill']);
  const { rows } = await client.query(`select ${SALT} as salt`);
  expect(rows).toEqual([{ salt: 0 }]);
});

const REFUSED: readonly [string, (shared: SharedDatabase, place: Place) => Promise<void>, RegExp][] = [
  [
    'a schema that does not exist',
    (database, { role }) => database.run(`alter role ${role} set search_path = typo, public`),
    /^The search_path of the role role_\w+ \(typo, public\) begins with a schema that does not exist, or that this role may not use\. Make that schema \(create schema NAME authorization role_\w+\), or correct the search_path\.$/,
  ],
  [
    'a schema that its role may not use',
    async (database, { role }) => database.run(`create schema closed; alter role ${role} set search_path = closed`),
    /^The search_path of the role role_\w+ \(closed\) begins with a schema that does not exist, or that this role may not use\./,
  ],
  [
    'no schema',
    (database, { role }) => database.run(`alter role ${role} set search_path = ''`),
    /^The search_path of the role role_\w+ \(""\) begins with a schema that does not exist/,
  ],
  [
    'two schemas, where the second one has an installation too',
    async (database, { role }) => {
      await migratedPlace(await database.place('second'));
      await database.run(
        `alter role ${role} set search_path = "Shop-1", second; grant usage on schema second to ${role}`,
      );
    },
    /^The search_path of the role role_\w+ \("Shop-1", second\) leads to the schema "Shop-1", and behind it to second, where another installation is\. Let it name one schema, made for this installation alone: alter role role_\w+ set search_path = NAME\.$/,
  ],
];

it.each(REFUSED)(
  'a search_path that names %s is refused by every connection, with the way out',
  async (_, set, text) => {
    const place = await shared.place('Shop-1');
    await set(shared, place);
    const handle = openPlace(place);
    const ways = [
      () => sql`select 1`.execute(handle.db),
      () => handle.pipeline.executeQuery(sql`select 1`.compile(handle.db)),
      () => handle.connect(),
    ];
    for (const way of ways) {
      const fault = await way().then(
        () => null,
        (error: unknown) => error,
      );
      expect(fault).toBeInstanceOf(UnfitDatabaseError);
      expect(String(Object(fault).message)).toMatch(text);
    }
  },
);

it('a search_path that leads elsewhere while a process runs never lets it write there', async () => {
  const place = await shared.place('one');
  const { schema: elsewhere } = await shared.place('other');
  const handle = await migratedPlace(place);
  await sql`select 1`.execute(handle.db);
  await shared.run(`grant usage, create on schema ${elsewhere} to ${place.role}`);
  await shared.run(`alter role ${place.role} set search_path = ${elsewhere}`);
  const table = sql`create table written (name text)`;
  // The first connection is old, the second one new.
  await handle.db.connection().execute(async (old) => {
    await table.execute(old);
    await expect(table.execute(handle.db)).rejects.toThrow(
      /^The search_path of the role role_\w+ was changed: new connections lead to the schema other, and this process works in one\. Set it back: alter role role_\w+ set search_path = one\. Give another installation a role of its own\.$/,
    );
  });
  await shared.run(`alter role ${place.role} set search_path = one`);
  await handle.db.connection().execute(() => sql`select from written`.execute(handle.db));
  expect(handle.schema()).toBe('one');
});
