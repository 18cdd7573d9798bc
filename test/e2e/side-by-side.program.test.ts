import path from 'node:path';
import { sql } from 'kysely';
import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive } from '../../src/webhooks/local-receivers.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { client, eventOf, eventually, testService, type TestService } from '../program.ts';
import { openPlace, sharedDatabase, type Place, type SharedDatabase } from '../schemas.ts';
import { contentsOf, home, withEmbedded, type Contents } from './move.fixture.ts';
import { ORDER, told, walk, type Side } from './rolling.fixture.ts';

let shared: SharedDatabase;
beforeEach(async () => {
  shared = await sharedDatabase();
});

/** An installation of its own in a schema of the shared database. */
const installation = ({ url }: Place, env: Readonly<Record<string, string>> = {}): Promise<TestService> =>
  testService({ DATABASE_URL: url, SANDBOX_COMPLETE_AFTER_SECONDS: '3600', ...env });

/** A running installation with a shop that is told of every event. */
async function running(place: Place) {
  const service = await installation(place);
  const started = await service.start();
  const { projectId, key } = started.first ?? { projectId: '', key: '' };
  const shop = await receive((response) => void response.end());
  onTestFinished(() => shop.close());
  const endpoint = `--project ${projectId} --mode test --events all --url http://127.0.0.1:${shop.port}/`;
  const secret = textAt(await service.command(`webhook create ${endpoint}`), 'secret');
  const side: Side = { url: service.sandbox, call: client(service.sandbox, key) };
  return { service, started, shop, secret, side, key };
}

const metric = async ({ sandbox }: TestService, name: string): Promise<readonly string[]> =>
  (await (await fetch(`${sandbox}/metrics`)).text()).split('\n').filter((line) => line.startsWith(name));

it(
  'two installations in one database serve both APIs at once, and see neither rows nor wake-ups nor keys of each other',
  { timeout: 5 * DEADLINE_MS },
  async () => {
    const [one, other] = await Promise.all([running(await shared.place('one')), running(await shared.place('other'))]);
    const walked = await Promise.all(
      [one, other].flatMap(({ side }) => [walk(side, side, 'first'), walk(side, side, 'second')]),
    );
    const [ofOne, ofOther] = [walked.slice(0, 2), walked.slice(2)];
    for (const each of ofOne) await told(one.shop, one.secret, each);
    for (const each of ofOther) await told(other.shop, other.secret, each);
    const subjects = (shop: typeof one.shop) => new Set(shop.requests.map((request) => eventOf(request).data.id));
    expect([...subjects(one.shop)].filter((id) => subjects(other.shop).has(id))).toEqual([]);

    expect((await client(one.side.url, other.key)('/v1/orders')).status).toBe(401);
    for (const { order } of ofOne) expect((await other.side.call(`/v1/orders/${order}`)).status).toBe(404);
    // Each has one process: whatever it received came from the neighbour.
    for (const { service } of [one, other]) {
      const received = (await metric(service, 'cointill_wakeups_total')).filter((line) => line.includes('"received"'));
      expect(received.length).toBeGreaterThan(5);
      expect(received.filter((line) => !line.endsWith(' 0'))).toEqual([]);
    }
    expect(await metric(one.service, 'cointill_build_info')).toEqual([expect.stringContaining('schema="one"')]);
    expect(await metric(other.service, 'cointill_build_info')).toEqual([expect.stringContaining('schema="other"')]);

    await one.started.kill();
    expect((await other.side.call('/v1/orders', ORDER)).status).toBe(200);
    await one.service.start();
    expect((await one.side.call('/v1/orders', ORDER)).status).toBe(200);
  },
);

const NOTED = { figures_progress: '' };
/** The content of a schema, table by table. */
const contentOf = ({ url }: Pick<Place, 'url'>): Promise<Contents> => contentsOf({ connectionString: url });

it(
  'backup, restore and move work on one schema, while its neighbour is in use, and leave that as it is',
  { timeout: 5 * DEADLINE_MS },
  async () => {
    const [place, neighbour] = [await shared.place('Shop 1'), await shared.place('neighbour')];
    const [service, beside] = [await installation(place), await installation(neighbour)];
    await service.command('project create --name One');
    await beside.command('project create --name Neighbour');
    const held = await beside.start();
    const untouched = await contentOf(neighbour);

    const folder = await home();
    const file = path.join(folder, 'one.backup');
    expect(await service.command(`backup ${file}`)).toMatchObject({ rows: { projects: 1 } });
    const target = await shared.place('restored');
    const restored = await installation(target);
    expect(await restored.cointill.run('restore', file, '--to', target.url)).toMatchObject({ code: 0 });
    expect(await restored.cointill.json('project', 'list')).toMatchObject([{ name: 'One' }]);
    const again = await restored.cointill.run('restore', file, '--to', neighbour.url);
    expect(again).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is not empty .*never writes into existing/),
    });

    const content = await contentOf(place);
    const dataDir = path.join(folder, 'moved');
    expect(await service.cointill.json('move', '--data-dir', dataDir)).toMatchObject({ rows: { projects: 1 } });
    expect(await service.cointill.run('project', 'list')).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/was moved to/),
    });
    expect(await withEmbedded(dataDir, contentsOf)).toEqual(content);
    expect(await beside.cointill.json('project', 'list')).toMatchObject([{ name: 'Neighbour' }]);
    // Its service notes how far it has read.
    expect({ ...(await contentOf(neighbour)), ...NOTED }).toEqual({ ...untouched, ...NOTED });
    expect(await held.stop()).toMatchObject({ code: 0 });
  },
);

it('a schema of a newer version is refused with what to do, and its older neighbour goes on', async () => {
  const [young, old] = [await shared.place('young'), await shared.place('old')];
  const [service, beside] = [await installation(young), await installation(old)];
  await service.command('project create --name Young');
  await beside.command('project create --name Old');
  await sql`insert into migrations (name, checksum) values ('9999_future.sql', 'x')`.execute(openPlace(young).db);
  const refusal = expect.stringMatching(/^The database was migrated by a newer version of Cointill \(9999_future\.sql/);
  expect(await service.cointill.run('start')).toMatchObject({ code: 1, stdout: '', stderr: refusal });
  expect(await beside.cointill.json('project', 'list')).toMatchObject([{ name: 'Old' }]);
  const started = await beside.start();
  expect((await fetch(`${beside.sandbox}/readyz`)).status).toBe(200);
  await started.stop();
});

it('an installation is not begun with the key of its neighbour’s DATA_DIR, and begins with one of its own', async () => {
  const [first, second] = [await shared.place('first'), await shared.place('second')];
  const service = await installation(first);
  const started = await service.start();
  await started.stop();
  const { dataDir } = service.cointill;
  const misplaced = await installation(second, { DATA_DIR: dataDir });
  expect(await misplaced.cointill.run('start')).toEqual({
    code: 1,
    stdout: '',
    stderr: `The schema that DATABASE_URL leads to is empty, and the secret.key in DATA_DIR ${dataDir} belongs to another installation, such as that in the schema first. Set DATA_DIR to a folder of this installation’s own, or set SECRET_KEY.\n`,
  });
  const { rows } = await sql`select from pg_tables where schemaname = 'second'`.execute(openPlace(second).db);
  expect(rows).toEqual([]);
  const right = await installation(second);
  await (await right.start()).stop();
  // With both at work, the folder of the other one has a wrong key.
  const swapped = await installation(second, { DATA_DIR: dataDir });
  expect(await swapped.cointill.run('start')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^This database was first used with another key\./),
  });
});

it('a running service whose role gets another search_path saves nothing there, says why, and works again once that is set back', async () => {
  const [place, elsewhere] = [await shared.place('here'), await shared.place('elsewhere')];
  await (await installation(elsewhere)).command('project create --name Elsewhere');
  const service = await installation(place);
  const started = await service.start();
  const call = client(service.sandbox, started.first?.key ?? '');
  await shared.run(`alter role ${place.role} set search_path = elsewhere`);
  await shared.run(`grant ${elsewhere.role} to ${place.role}`);
  const untouched = await contentOf(elsewhere);
  await shared.run(`select pg_terminate_backend(pid) from pg_stat_activity where usename = '${place.role}'`);
  expect(
    (
      await eventually('it is refused', async () => {
        const answer = await call('/v1/orders', ORDER);
        return answer.status === 503 ? answer : null;
      })
    ).body,
  ).toMatchObject({ error: { type: 'service_unavailable' } });
  await started.running.waitFor(
    /The search_path of the role role_\w+ was changed: new connections lead to the schema elsewhere, and this process works in here\./,
  );
  expect(await contentOf(elsewhere)).toEqual(untouched);
  await shared.run(`alter role ${place.role} set search_path = here`);
  await eventually('it works', async () => ((await call('/v1/orders', ORDER)).status === 200 ? true : null));
});
