import { setTimeout as passed } from 'node:timers/promises';
import path from 'node:path';
import { textAt } from '../../src/cli/program.fixture.ts';
import { WEATHERS as MAIL_WEATHERS } from '../../bench/mail-server.ts';
import type { Scene } from '../money/scene.ts';
import type { Clients } from './clients.ts';
import { WEATHERS, type Proxy } from './proxy.ts';
import type { Member, Town } from './town.ts';

/** A run of chaos. */
export interface Chaos {
  readonly scene: Scene;
  readonly town: Town;
  readonly clients: Clients;
  /** The folder of backups. */
  readonly folder: string;
  readonly backups: Backup[];
  /** Broken invariants, a line each. */
  readonly found: string[];
}

/** A backup that was made under load, and how many orders had been acknowledged before it began. */
interface Backup {
  readonly file: string;
  readonly acknowledged: number;
}

export type Fault = (chaos: Chaos) => Promise<void>;

/** A revoked key is dead after this, even in a process that hears of nothing. */
const REVOKED_WITHIN_MS = 1_000;

export const FAULTS: readonly (readonly [weight: number, name: string, fault: Fault])[] = [
  [10, 'kill a process', async (chaos) => killed(chaos, anyMember(chaos))],
  [
    2,
    'kill every process',
    async (chaos) => void (await Promise.all(chaos.town.members.map((one) => killed(chaos, one)))),
  ],
  [3, 'kill the database', ({ town }) => town.killDatabase()],
  [2, 'kill Redis', killRedis],
  [
    1,
    'freeze Redis',
    async ({ town, scene }) =>
      town.lasting(
        () => town.redis.freeze(),
        () => town.redis.thaw(),
        length(scene),
      ),
  ],
  [6, 'weather on a way to the database', async (chaos) => weather(chaos, anyMember(chaos).toDatabase)],
  [2, 'weather on every way to the database', everyWay],
  [4, 'weather on the way to the API', async (chaos) => weather(chaos, chaos.town.toApi())],
  [1, 'weather of the mail server', async ({ town, scene }) => town.mail.become(scene.random.pick(MAIL_WEATHERS))],
  [2, 'a node that refuses or hangs', node],
  [1, 'rolling restart', rollingRestart],
  [1, 'backup', backup],
  [2, 'revoke a key', revoke],
];

function length({ random }: Scene): number {
  return random.between(200, 4_000);
}

function anyMember({ scene, town }: Chaos): Member {
  return scene.random.pick(town.members);
}

function killed({ scene }: Chaos, member: Member): Promise<void> {
  return member.kill(scene.random.between(0, 2_000));
}

async function killRedis({ town, scene }: Chaos): Promise<void> {
  await town.redis.stop();
  await passed(scene.random.between(0, 1_000));
  await town.redis.start();
}

function weather({ scene, town }: Chaos, way: Proxy): void {
  const next = scene.random.pick(WEATHERS);
  town.lasting(
    () => way.become(next),
    () => way.become('works'),
    length(scene),
  );
}

async function everyWay(chaos: Chaos): Promise<void> {
  for (const { toDatabase } of chaos.town.members) weather(chaos, toDatabase);
}

async function node({ scene, town }: Chaos): Promise<void> {
  const { chain, random } = scene;
  const refusal = random.pick([{ status: 503, text: 'busy' }, { stall: true }]);
  town.lasting(
    () => chain.intercept(() => refusal),
    () => chain.intercept(() => null),
    length(scene),
  );
}

async function rollingRestart({ town }: Chaos): Promise<void> {
  for (const member of town.members) await member.restart();
}

/** A backup may fail while the database is away, but none that was made lacks what was there. */
async function backup({ scene, clients, folder, backups }: Chaos): Promise<void> {
  const acknowledged = clients.acknowledged();
  const file = path.join(folder, `${scene.step}.backup`);
  const made = await scene.shop.service.command(`backup ${file}`).then(
    () => true,
    () => false,
  );
  if (made) backups.push({ file, acknowledged });
}

/** Restores the newest backup for real, and counts. */
export async function checkBackups({ scene, backups, found }: Chaos): Promise<void> {
  const newest = backups.at(-1);
  if (newest === undefined) return;
  const { file, acknowledged } = newest;
  const checked = await scene.shop.service.command(`backup check ${file}`).catch((error: unknown) => {
    found.push(`the backup ${file} does not restore: ${String(error)}`);
    return null;
  });
  const payments = Number(Object(Object(checked)['rows'])['payments']);
  if (checked !== null && !(payments >= acknowledged))
    found.push(`the backup ${file} has ${payments} payments, of ${acknowledged} acknowledged before it began`);
}

/** No process takes a key a second after it was revoked, whatever it hears. */
async function revoke({ scene, town, found }: Chaos): Promise<void> {
  const { shop } = scene;
  const words = `key create --project ${shop.project} --mode live --kind secret --permission full --name Revoked`;
  const made = await shop.service.command(words).catch(() => null);
  if (made === null) return;
  const [id, key] = [textAt(made, 'id'), textAt(made, 'key')];
  const ask = async ({ port }: Member): Promise<number | null> =>
    fetch(`http://127.0.0.1:${port}/v1/orders?limit=1`, {
      headers: { authorization: `Bearer ${key}` },
      signal: AbortSignal.timeout(5_000),
    }).then(
      async (answer) => (await answer.text(), answer.status),
      () => null,
    );
  const apis = town.members.filter(({ port }) => port !== null);
  // So that each has looked it up.
  await Promise.all(apis.map(ask));
  const isRevoked = await shop.service.command(`key revoke ${id}`).then(
    () => true,
    () => false,
  );
  if (!isRevoked) return;
  await passed(REVOKED_WITHIN_MS);
  for (let time = 0; time < 10; time += 1) {
    for (const [at, status] of (await Promise.all(apis.map(ask))).entries())
      if (status === 200) found.push(`${apis[at]?.name} takes a key more than a second after it was revoked`);
    await passed(200);
  }
}
