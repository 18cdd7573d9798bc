import { randomBytes } from 'node:crypto';
import { setTimeout as passed } from 'node:timers/promises';
import { Secret, TOTP } from 'otpauth';
import { expect, it, onTestFinished } from 'vitest';
import { createPasswordHasher } from '../../src/app/people/password-hash.ts';
import { sealTotp, totpOwner } from '../../src/app/people/totp.ts';
import { keyOfCheck } from '../../src/app/sealing-key.ts';
import { program } from '../../src/cli/program.fixture.ts';
import { decodeId, encodeId } from '../../src/domain/id.ts';
import type { Database, Trx } from '../../src/store/database.ts';
import { findKeyCheck } from '../../src/store/key-checks.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';
import { loadSealingKey } from '../../src/webhooks/sealing-keys.ts';
import { openSecret, sealSecret } from '../../src/webhooks/secret.ts';
import { verifyServiceSignature } from '../../src/webhooks/signature.ts';
import { testDatabase } from '../database.ts';
import { isNight } from '../extent.ts';
import { browserAt, client, eventually, freePort, testService } from '../program.ts';

const ENDPOINTS = isNight ? 10_000 : 500;
const PEOPLE = isNight ? 1_000 : 50;
const KILLS = isNight ? 20 : 4;
/** The endpoints that get every event of the shop. */
const SHOPS = 10;
const STEP_MS = isNight ? 250 : 50;

const FORMER = 'the key with which this shop began';
const NEXT = 'the key that takes the former key’s place';
const PASSWORD = 'grumpy otter parade';
const CODE_SECRET = 'JBSWY3DPEHPK3PXP';
const [former, next] = [FORMER, NEXT].map((secretKey) => loadSealingKey({ secretKey, dataDir: '/nowhere' }));

it(`the key changes under load, killed ${KILLS} times on its way: one key opens all, and no receiver and no code is refused`, async () => {
  if (former === undefined || next === undefined) throw new Error('no keys');
  const database = await testDatabase();
  const { db } = database;
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const env = { DATABASE_URL: database.url, LOG_LEVEL: 'warn', REDIS_URL: '', RATE_LIMIT_DASHBOARD: '1000000' };
  const keys = { SECRET_KEY: NEXT, SECRET_KEY_PREVIOUS: FORMER };

  const first = await testService({ ...env, SECRET_KEY: FORMER, PORT: port, DASHBOARD_URL: url });
  const begun = await first.start();
  const { projectId, key } = begun.first ?? { projectId: '', key: '' };
  const secrets = await addEndpoints(db, former, projectId);
  const emails = await addPeople(db, former);
  await begun.stop();

  // Two processes with both keys.
  const service = await testService({ ...env, ...keys, PORT: port, DASHBOARD_URL: url });
  const worker = await testService({ ...env, ...keys, ROLE: 'worker' });
  await Promise.all([service.start(), worker.start()]);
  let refusedDeliveries = 0;
  const receiver = await receive((response, { url: path, headers, body }) => {
    const isRight = verifyServiceSignature(secrets.get(path) ?? '', body, String(headers['x-service-signature']));
    if (!isRight) refusedDeliveries += 1;
    response.writeHead(isRight ? 200 : 401).end();
  });
  onTestFinished(receiver.close);
  await db
    .updateTable('webhook_endpoints')
    .set({ url: `http://127.0.0.1:${receiver.port}` })
    .execute();
  for (const path of secrets.keys()) {
    const id = decodeId('endpoint', path.slice(1)) ?? '';
    const to = `http://127.0.0.1:${receiver.port}${path}`;
    await db.updateTable('webhook_endpoints').set({ url: to }).where('id', '=', id).execute();
  }

  const load = { isEnding: false, orders: 0, codes: 0, refusedCodes: 0 };
  const shop = client(service.sandbox, key);
  const sell = async (): Promise<void> => {
    while (!load.isEnding) {
      const order = { amount: 5, currency: 'USD', crypto_currency: 'BTC' };
      expect((await shop('/v1/orders', order)).status).toBe(200);
      load.orders += 1;
      await passed(50);
    }
  };
  const signIn = async (): Promise<void> => {
    while (!load.isEnding) {
      const email = emails[load.codes % emails.length];
      const code = new TOTP({ secret: Secret.fromBase32(CODE_SECRET) }).generate();
      // Each person's code is right once in its thirty seconds.
      if (load.codes >= emails.length) return;
      load.codes += 1;
      const { status } = await browserAt(url)('/sign-in', { email, password: PASSWORD, code });
      if (status !== 200) load.refusedCodes += 1;
      await passed(100);
    }
  };
  const working = Promise.all([sell(), signIn()]);

  let present: Uint8Array = former;
  const opening: number[] = [];
  const rotateTo = (wanted: Uint8Array) =>
    program(
      wanted === next ? { ...env, ...keys } : { ...env, SECRET_KEY: FORMER, SECRET_KEY_PREVIOUS: NEXT },
      'process',
    );
  let changed = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const wanted = present === former ? next : former;
    const rotation = (await rotateTo(wanted)).start('secret', 'rotate');
    await eventually('the rotation works', () => isRotating(db));
    await passed(kill * STEP_MS);
    rotation.signal('SIGKILL');
    await rotation.ended;
    const opens = await keysThatOpenAll(db, [former, next]);
    opening.push(opens.length);
    if (opens[0] !== present) changed += 1;
    present = opens[0] ?? present;
  }
  expect(opening).toEqual(Array.from({ length: KILLS }, () => 1));
  // Back, unless the former key is there already: the last change is a whole one.
  await (await rotateTo(former)).json('secret', 'rotate');
  const started = performance.now();
  const rotated = await (await rotateTo(next)).json('secret', 'rotate');
  const took = Math.round(performance.now() - started);
  expect(rotated).toMatchObject({ rotated: true, endpoints: ENDPOINTS, people: PEOPLE, unopened_endpoints: [] });
  expect(await keysThatOpenAll(db, [former, next])).toEqual([next]);

  await eventually('there were some orders since', () => (load.orders > 20 ? true : null));
  load.isEnding = true;
  await working;
  const due = db.selectFrom('deliveries').select('id').where('state', '!=', 'delivered');
  await eventually('every event is delivered', async () =>
    (await due.executeTakeFirst()) === undefined ? true : null,
  );
  expect({ refusedDeliveries, refusedCodes: load.refusedCodes }).toEqual({ refusedDeliveries: 0, refusedCodes: 0 });
  expect(receiver.requests.length).toBeGreaterThanOrEqual(load.orders * SHOPS);
  expect(load.codes).toBeGreaterThan(0);
  process.stdout.write(
    `${KILLS} kills, ${changed} after the change; ${receiver.requests.length} deliveries, ${load.codes} codes; the last took ${took} ms\n`,
  );
}, 600_000);

/** Adds the endpoints, the first ones to the shop's events. Gives their secrets by the path of their URL. */
async function addEndpoints(db: Database, key: Uint8Array, projectId: string): Promise<ReadonlyMap<string, string>> {
  const secrets = new Map<string, string>();
  const rows = Array.from({ length: ENDPOINTS }, (_, index) => {
    const id = crypto.randomUUID();
    const secret = `whsec_${randomBytes(32).toString('base64')}`;
    if (index < SHOPS) secrets.set(`/${encodeId('endpoint', id)}`, secret);
    return {
      id,
      project_id: projectId,
      mode: index < SHOPS ? ('test' as const) : ('live' as const),
      url: 'http://127.0.0.1:9/',
      events: ['order.created' as const],
      secret: sealSecret(key, secret, id),
      previous_secret: null,
      previous_secret_until: null,
      disabled_at: null,
      disabled_reason: null,
      deleted_at: null,
      created_at: new Date(),
    };
  });
  for (let from = 0; from < rows.length; from += 500)
    await db
      .insertInto('webhook_endpoints')
      .values(rows.slice(from, from + 500))
      .execute();
  return secrets;
}

async function addPeople(db: Database, key: Uint8Array): Promise<readonly string[]> {
  const hasher = createPasswordHasher(randomBytes);
  const passwordHash = await hasher.hash(PASSWORD, { kind: 'known', id: 'test' });
  const rows = Array.from({ length: PEOPLE }, (_, index) => {
    const id = crypto.randomUUID();
    return {
      id,
      email: `person-${index}@shop.example`,
      password_hash: passwordHash,
      joined_at: new Date(),
      totp_secret: sealSecret(key, CODE_SECRET, totpOwner(id)),
      totp_pending: sealTotp(key, id, CODE_SECRET),
      created_at: new Date(),
    };
  });
  await db.insertInto('people').values(rows).execute();
  return rows.map(({ email }) => email);
}

/** Whether a rotation holds the lock of the check. */
async function isRotating(db: Database): Promise<true | null> {
  const free = db.selectFrom('key_checks').select('sealed').forShare().skipLocked();
  return (await free.executeTakeFirst()) === undefined ? true : null;
}

function keysThatOpenAll(database: Database, keys: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  // At one moment: a rotation may just be committing.
  const moment = database.transaction().setIsolationLevel('repeatable read');
  return moment.execute((trx) => keysThatOpen(trx, keys));
}

async function keysThatOpen(db: Trx, keys: readonly Uint8Array[]): Promise<readonly Uint8Array[]> {
  const endpoints = await db.selectFrom('webhook_endpoints').select(['id', 'secret']).execute();
  const people = await db.selectFrom('people').select(['id', 'totp_secret', 'totp_pending']).execute();
  const check = await findKeyCheck(db);
  const values = [
    ...endpoints.map(({ id, secret }) => [id, secret] as const),
    ...people.flatMap(({ id, totp_secret: one, totp_pending: other }) =>
      [one, other].flatMap((value) => (value === null ? [] : [[totpOwner(id), value] as const])),
    ),
  ];
  const opens = (key: Uint8Array): boolean => {
    try {
      for (const [owner, value] of values) openSecret([key], value, owner);
      return check !== null && keyOfCheck([key], check) !== null;
    } catch {
      return false;
    }
  };
  return keys.filter(opens);
}
