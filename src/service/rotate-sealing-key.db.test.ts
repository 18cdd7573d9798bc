import { randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { Secret, TOTP } from 'otpauth';
import { createEndpoint, rotateEndpointSecret } from '../app/webhooks/webhook-endpoints.ts';
import { keyOfCheck } from '../app/sealing-key.ts';
import { deliverAll, shop, webhookApp, type Shop, type WebhookApp } from '../app/webhooks/webhooks.fixture.ts';
import { sealTotp, stepOfPerson } from '../app/people/totp.ts';
import type { Database } from '../store/database.ts';
import { findKeyCheck } from '../store/key-checks.ts';
import { SEALED } from '../store/sealed-values.ts';
import { findPersonByEmail, type Person } from '../store/people/people.ts';
import { openSecret, sealSecret, type SealingKeys } from '../webhooks/secret.ts';
import { verifyServiceSignature } from '../webhooks/signature.ts';
import { rotateSealingKey } from './rotate-sealing-key.ts';
import { checkSealingKeys, keyProblem } from './sealing-key.ts';

const NEXT = randomBytes(32);
const CODE_SECRET = 'JBSWY3DPEHPK3PXP';
const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;

/** An installation with a key of before, and the keys of a process that also has the next one. */
async function beforeRotation() {
  const webhooks = await webhookApp();
  const { app, sealingKeys } = webhooks;
  await checkSealingKeys(app.db, sealingKeys);
  const both: SealingKeys = [NEXT, ...sealingKeys];
  await checkSealingKeys(app.db, both);
  return { ...webhooks, former: sealingKeys, both };
}

async function addPerson({ app, sealingKeys: [key] }: WebhookApp, email: string): Promise<Person> {
  const id = crypto.randomUUID();
  await app.db
    .insertInto('people')
    .values({
      id,
      email,
      password_hash: 'x',
      joined_at: new Date(),
      totp_secret: sealTotp(key, id, CODE_SECRET),
      totp_pending: sealTotp(key, id, CODE_SECRET),
      created_at: new Date(),
    })
    .execute();
  const person = await findPersonByEmail(app.db, email);
  if (person === null) throw new Error('nobody there');
  return person;
}

/** The keys that open every secret of the database and its check: one, at every moment. */
async function keysThatOpenAll(db: Database, keys: SealingKeys): Promise<readonly Uint8Array[]> {
  const endpoints = await db.selectFrom('webhook_endpoints').select(['id', 'secret', 'previous_secret']).execute();
  const people = await db.selectFrom('people').select(['id', 'totp_secret', 'totp_pending']).execute();
  const check = await findKeyCheck(db);
  const values = [
    ...endpoints.flatMap(({ id, secret, previous_secret }) => [[id, secret] as const, [id, previous_secret] as const]),
    ...people.flatMap(({ id, totp_secret, totp_pending }) =>
      [totp_secret, totp_pending].map((value) => [`totp of ${id}`, value] as const),
    ),
  ];
  const opens = (key: Uint8Array): boolean => {
    try {
      for (const [aad, value] of values) if (value !== null) openSecret([key], value, aad);
      return check !== null && keyOfCheck([key], check) !== null;
    } catch {
      return false;
    }
  };
  return keys.filter(opens);
}

function verified({ requests }: Shop, secret: string): readonly boolean[] {
  return requests.map(({ body, headers }) =>
    verifyServiceSignature(secret, body, String(headers['x-service-signature'])),
  );
}

describe('secret rotate', () => {
  it('encrypts the secrets of endpoints and people, current, former and new ones, and the check with the new key', async () => {
    const installation = await beforeRotation();
    const { app, both, former, register, sealingKeys } = installation;
    const made = await Promise.all(Array.from({ length: 3 }, () => register('http://127.0.0.1:9/')));
    await rotateEndpointSecret(app, sealingKeys, made[0]?.id ?? '');
    await addPerson(installation, 'ann@shop.example');
    expect(await keysThatOpenAll(app.db, both)).toEqual(former);
    expect(await rotateSealingKey(app, both)).toMatchObject({ kind: 'rotated', endpoints: 3, people: 1 });
    expect(await keysThatOpenAll(app.db, both)).toEqual([NEXT]);
    const audited = await app.db.selectFrom('audit_log').select(['action', 'after']).execute();
    expect(audited).toContainEqual({ action: 'secret.rotate', after: { endpoints: 3, people: 1 } });
  });

  it('twice at once does it once; the other says that nothing is left', async () => {
    const { app, both, register } = await beforeRotation();
    await register('http://127.0.0.1:9/');
    const ends = await Promise.all([rotateSealingKey(app, both), rotateSealingKey(app, both)]);
    expect(ends.map(({ kind }) => kind).toSorted()).toEqual(['none', 'rotated']);
    expect(await keysThatOpenAll(app.db, both)).toEqual([NEXT]);
  });

  it('leaves what no key opens as it is, and names it', async () => {
    const { app, both, register } = await beforeRotation();
    const { id } = await register('http://127.0.0.1:9/');
    const gone = sealSecret(randomBytes(32), 'whsec_AAAA', id);
    await app.db.updateTable('webhook_endpoints').set({ secret: gone }).execute();
    await register('http://127.0.0.1:9/');
    expect(await rotateSealingKey(app, both)).toEqual({
      kind: 'rotated',
      endpoints: 1,
      people: 0,
      unopened: { webhook_endpoints: [id], people: [] },
    });
    const kept = await app.db.selectFrom('webhook_endpoints').select('secret').where('id', '=', id).execute();
    expect(kept).toEqual([{ secret: gone }]);
  });

  it('names no endpoint that was deleted, which nobody could give a new secret', async () => {
    const { app, both, register } = await beforeRotation();
    const { id } = await register('http://127.0.0.1:9/');
    const gone = sealSecret(randomBytes(32), 'whsec_AAAA', id);
    await app.db.updateTable('webhook_endpoints').set({ secret: gone, deleted_at: new Date() }).execute();
    const { unopened } = await rotateSealingKey(app, both);
    expect(unopened).toEqual({ webhook_endpoints: [], people: [] });
  });

  it('names people by the addresses that a reset of their codes takes', async () => {
    const webhooks = await beforeRotation();
    const { app, both } = webhooks;
    const { id } = await addPerson(webhooks, 'mara@shop.example');
    const gone = sealTotp(randomBytes(32), id, CODE_SECRET);
    await app.db.updateTable('people').set({ totp_secret: gone }).where('id', '=', id).execute();
    expect((await rotateSealingKey(app, both)).unopened.people).toEqual(['mara@shop.example']);
  });

  it('covers every column with bytes but those that hold no secret', async () => {
    const { app } = await beforeRotation();
    const { rows } = await sql<{ column: string }>`
      select table_name || '.' || column_name as column from information_schema.columns
      where table_schema = current_schema() and data_type = 'bytea'
        and column_name !~ '(^|_)hash$' and column_name not in ('bytes', 'public_key')`.execute(app.db);
    const sealed = Object.entries(SEALED).flatMap(([table, { columns }]) => columns.map((name) => `${table}.${name}`));
    expect(rows.map(({ column }) => column).toSorted()).toEqual([...sealed, 'key_checks.sealed'].toSorted());
  });

  it('with a key that is none of the database by now changes nothing', async () => {
    const { app, both, register } = await beforeRotation();
    await register('http://127.0.0.1:9/');
    await expect(rotateSealingKey(app, [randomBytes(32), randomBytes(32)])).rejects.toThrow(/another key/);
    expect(await keysThatOpenAll(app.db, both)).toEqual(both.slice(1));
  });

  it('goes on beside endpoints and authenticator apps that are made meanwhile: one key opens all', async () => {
    const { app, both } = await beforeRotation();
    const wanted = { projectId: app.projectId, mode: 'test', url: 'http://127.0.0.1:9/', events: 'all' } as const;
    const make = async (): Promise<void> => {
      for (let index = 0; index < 5; index += 1) await createEndpoint(app, both, policyOf, wanted);
    };
    const [rotation] = await Promise.all([rotateSealingKey(app, both), make(), make(), make()]);
    expect(rotation.kind).toBe('rotated');
    expect(await keysThatOpenAll(app.db, both)).toEqual([NEXT]);
    expect(await app.db.selectFrom('webhook_endpoints').select('id').execute()).toHaveLength(15);
  });
});

describe('during a rotation', () => {
  it('a process with the former key alone makes no endpoint afterwards, and says what it needs', async () => {
    const { app, both, register } = await beforeRotation();
    await rotateSealingKey(app, both);
    await expect(register('http://127.0.0.1:9/')).rejects.toThrow(
      /key of this database has been changed.*Restart this/,
    );
  });

  it('processes with both keys sign as before; one with the former key alone signs with what it knows', async () => {
    const { app, both, former, register, deliverer, faults } = await beforeRotation();
    const [known, unknown] = [await shop(), await shop()];
    const first = await register(known.url);
    const [updated, stale] = [deliverer({ sealingKeys: both }), deliverer()];
    await app.pay();
    await deliverAll(app, stale);
    const second = await register(unknown.url);
    await rotateSealingKey(app, both);
    await app.pay();
    await stale.takeDue();
    await stale.idle();
    expect(verified(known, first.secret)).toEqual(known.requests.map(() => true));
    expect([known.requests.length, unknown.requests.length]).toEqual([2, 0]);
    expect(String(faults[0])).toContain('a key that this process does not have. Restart it');
    // It was given back, and is left to the others.
    await stale.takeDue();
    await stale.idle();
    expect(faults).toHaveLength(1);
    await deliverAll(app, updated);
    expect(verified(unknown, second.secret)).toEqual([true]);
    expect(await keyProblem(app.db, former)).toMatch(/key of this database has been changed.*Restart this/);
    expect(await keyProblem(app.db, both)).toBeNull();
    await expect(checkSealingKeys(app.db, former)).rejects.toThrow(
      /another key\. The key was changed at .* \(cointill secret rotate\)\. Use the SECRET_KEY that the other/,
    );
    await checkSealingKeys(app.db, [NEXT]);
  });

  it('one with the former key alone signs with no secret that was replaced since', async () => {
    const { app, both, register, deliverer } = await beforeRotation();
    const receiver = await shop();
    const { id } = await register(receiver.url);
    const stale = deliverer();
    await app.pay();
    await deliverAll(app, stale);
    const before = receiver.requests.length;
    await rotateSealingKey(app, both);
    await rotateEndpointSecret(app, both, id, { overlapMs: 0 });
    await app.pay();
    await stale.takeDue();
    await stale.idle();
    expect(receiver.requests).toHaveLength(before);
  });

  it('one-time codes are right before and after', async () => {
    const installation = await beforeRotation();
    const { app, both } = installation;
    const person = await addPerson(installation, 'ann@shop.example');
    const code = new TOTP({ secret: Secret.fromBase32(CODE_SECRET) }).generate({ timestamp: app.clock() });
    await rotateSealingKey(app, both);
    const now = await findPersonByEmail(app.db, person.email);
    for (const one of [person, now]) expect(one && stepOfPerson(both, one, code, app.clock())).not.toBeNull();
  });
});
