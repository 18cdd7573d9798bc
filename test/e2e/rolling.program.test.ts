import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { openDatabase } from '../../src/store/database.ts';
import { receive, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { emptyDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { checkOutEarlier, type EarlierCheckout } from '../earlier/checkout.ts';
import { isNight } from '../extent.ts';
import { client, eventOf, eventually, testService, type Started, type TestService } from '../program.ts';
import { alike, countAlike, ORDER, refuseAlike, told, TRANSACTION, walk, type Side } from './rolling.fixture.ts';

let checkout: EarlierCheckout | string;

beforeAll(async () => {
  checkout = await checkOutEarlier();
}, 5 * DEADLINE_MS);

afterAll(async () => {
  if (typeof checkout !== 'string') await checkout.remove();
});

/** The files of the release that call its API, its use cases and its processes. */
const OWN_TESTS = ['test/api', 'src/app', 'test/dashboard', 'test/e2e/roles', 'test/e2e/first-payment'];

it.runIf(isNight)(
  'the last release passes its own tests of the API on the schema of this program',
  { timeout: 15 * DEADLINE_MS },
  async ({ skip }) => {
    if (typeof checkout === 'string') return skip(checkout);
    const cwd = await checkout.copyWithOurMigrations();
    const { PATH = '', HOME = cwd } = process.env;
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'db', '--project', 'program', ...OWN_TESTS];
    const ended = await promisify(execFile)(process.execPath, args, {
      cwd,
      env: { PATH, HOME, CI: 'true', NO_COLOR: '1' },
      maxBuffer: 2 ** 26,
    }).catch((error: unknown) => Object(error));
    const text = `${ended.stdout}\n${ended.stderr}`;
    // A count of failed tests would come before that of the others.
    const havePassed = /^ +Tests +\d{4,} passed/m.test(text);
    expect(havePassed ? '' : text.slice(Math.max(0, text.indexOf('Failed Tests')))).toBe('');
  },
);

/** A database with a process of the release for each role, which has made it, and a shop. */
async function fleet({ root }: EarlierCheckout) {
  const url = await emptyDatabase();
  const common = {
    DATABASE_URL: url,
    SECRET_KEY: 'one-key-for-all-processes-of-a-shop',
    SANDBOX_CHECKOUT_URL: 'https://pay.shop.example',
    SANDBOX_COMPLETE_AFTER_SECONDS: '30',
  };
  const earlier = (role: string) => testService({ ...common, ROLE: role }, 'ready', onTestFinished, root);
  const present = (role: string) => testService({ ...common, ROLE: role });
  const oldApi = await begin(await earlier('api'));
  const { projectId, key } = oldApi.started.first ?? { projectId: '', key: '' };
  const oldWorker = await begin(await earlier('worker'));
  const shop = await receive((response) => void response.end());
  onTestFinished(() => shop.close());
  const endpoint = `--project ${projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/`;
  const secret = textAt(await oldApi.service.command(`webhook create ${endpoint}`), 'secret');
  return { url, earlier, present, oldApi, oldWorker, projectId, key, shop, secret };
}

interface Member {
  readonly service: TestService;
  readonly started: Started;
}

async function begin(service: TestService): Promise<Member> {
  return { service, started: await service.start() };
}

const sideOf = ({ service }: Member, key: string): Side => ({
  url: service.sandbox,
  call: client(service.sandbox, key),
});

it(
  'a fleet of the last release is replaced process by process, and each version goes on with what the other began',
  { timeout: 10 * DEADLINE_MS },
  async ({ skip }) => {
    if (typeof checkout === 'string') return skip(checkout);
    const { url, earlier, present, oldApi, oldWorker, projectId, key, shop, secret } = await fleet(checkout);
    const old = sideOf(oldApi, key);
    const before = await walk(old, old, 'before');

    // Its start migrates the database beneath the others.
    const newApi = await begin(await present('api'));
    const young = sideOf(newApi, key);
    const early = await Promise.all([walk(old, young, 'made-by-old'), walk(young, old, 'made-by-new')]);
    for (const walked of [before, ...early]) await told(shop, secret, walked);
    await refuseAlike([old, young], projectId);
    await countAlike(old, young, projectId);
    await revokeEverywhere(newApi.service, [old, young], projectId);
    if (checkout.newer.length > 0) await refuseNewer(await earlier('all'));

    const newWorker = await begin(await present('worker'));
    await shareWork([old, young], [oldWorker, newWorker], shop);
    const ends = [await oldWorker.started.stop()];
    const late = await Promise.all([walk(old, young, 'made-by-old-again'), walk(young, old, 'made-by-new-again')]);
    for (const walked of late) await told(shop, secret, walked);
    await countAlike(old, young, projectId);

    ends.push(await oldApi.started.stop());
    for (const { order } of [before, ...early, ...late]) await alike(young, young, `/v1/orders/${order}`);
    ends.push(await newApi.started.stop(), await newWorker.started.stop());
    expect(ends.map(({ code }) => code)).toEqual([0, 0, 0, 0]);
    expect(ends.flatMap(({ stderr }) => troubles(stderr))).toEqual([]);
    await nothingTwice(url, shop);
  },
);

/** A key of one version is refused by all, once a command has revoked it. */
async function revokeEverywhere(service: TestService, sides: readonly Side[], projectId: string): Promise<void> {
  const made = await service.command(
    `key create --project ${projectId} --mode test --kind secret --permission full --name Other`,
  );
  const status = async (side: Side) => (await client(side.url, textAt(made, 'key'))('/v1/orders?limit=1')).status;
  for (const side of sides) expect(await status(side)).toBe(200);
  await service.command(`key revoke ${textAt(made, 'id')}`);
  for (const side of sides)
    await eventually('the key is refused', async () => ((await status(side)) === 401 ? true : null));
}

/** Only processes that were running go on: the release neither starts nor runs a command on the newer schema. */
async function refuseNewer(service: TestService): Promise<void> {
  const refusal = expect.stringMatching(/^The database was migrated by a newer version of Cointill \(/);
  expect(await service.cointill.run('start')).toEqual({ code: 1, stdout: '', stderr: refusal });
  expect(await service.cointill.run('project', 'list')).toEqual({ code: 1, stdout: '', stderr: refusal });
}

const EACH = 30;

/** Workers of both versions share the events of orders that complete by their timer: each is sent once. */
async function shareWork(sides: readonly Side[], workers: readonly Member[], shop: LocalReceiver): Promise<void> {
  const before = await delivered(workers);
  const answers = await Promise.all(
    sides.flatMap(({ call }) => Array.from({ length: EACH }, () => call('/v1/orders', ORDER))),
  );
  const transactions = await Promise.all(
    sides.flatMap(({ call }) => Array.from({ length: EACH }, () => call('/api/transactions/create', TRANSACTION))),
  );
  const ids = new Set([
    ...answers.map(({ body }) => textAt(body, 'id')),
    ...transactions.map(({ body }) => textAt(body['transaction'], 'id')),
  ]);
  expect(ids.size).toBe(4 * EACH);
  const events = 2 * ids.size;
  const about = () => shop.requests.filter((request) => ids.has(eventOf(request).data.id));
  await eventually('all events are sent', () => (about().length >= events ? true : null));
  expect(new Set(about().map((request) => eventOf(request).id)).size).toBe(events);
  expect(about()).toHaveLength(events);
  await eventually('both have counted', async () => ((await delivered(workers)) - before === events ? true : null));
}

/** The deliveries that workers count, added up. */
async function delivered(workers: readonly Member[]): Promise<number> {
  const name = 'cointill_webhook_attempts_total{outcome="delivered"}';
  const texts = await Promise.all(
    workers.map(async ({ service }) => (await fetch(`${service.monitor}/metrics`)).text()),
  );
  const counts = texts.map((text) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(name))
        ?.slice(name.length) ?? 0,
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}

/** Warnings and errors of a log (levels of pino). */
function troubles(stderr: string): readonly string[] {
  return stderr.split('\n').filter((line) => line !== '' && !(line.startsWith('{') && JSON.parse(line).level < 40));
}

async function nothingTwice(url: string, shop: LocalReceiver): Promise<void> {
  const handle = openDatabase({ connectionString: url }, { maxConnections: 1, onError: () => {} });
  const { rows } = await sql<Readonly<Record<string, number>>>`
    select count(address)::int - count(distinct address)::int as addresses,
      count(transaction_number)::int - count(distinct transaction_number)::int as numbers
    from payments`.execute(handle.db);
  await handle.close();
  expect(rows).toEqual([{ addresses: 0, numbers: 0 }]);
  const ids = shop.requests.map((request) => eventOf(request).id);
  expect(new Set(ids).size).toBe(ids.length);
}
