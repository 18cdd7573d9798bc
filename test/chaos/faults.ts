import { setTimeout as passed } from 'node:timers/promises';
import path from 'node:path';
import { textAt } from '../../src/cli/program.fixture.ts';
import { WEATHERS as MAIL_WEATHERS } from '../../bench/mail-server.ts';
import type { Scene } from '../money/scene.ts';
import type { Clients } from './clients.ts';
import { WEATHERS, type Proxy } from './proxy.ts';
import type { Member } from './member.ts';
import type { Town } from './town.ts';

/** A run of chaos. */
export interface Chaos {
  readonly scene: Scene;
  readonly town: Town;
  readonly clients: Clients;
  /** The folder of backups. */
  readonly folder: string;
  readonly backups: Backup[];
  /** How often a backup took the place of the database. */
  restores: number;
  /** Broken invariants, a line each. */
  readonly found: string[];
}

/** A backup that was made under load, and how many orders of clients and moves were acknowledged before it began. */
interface Backup {
  readonly file: string;
  readonly acknowledged: number;
}

export type Fault = (chaos: Chaos) => Promise<void>;

/** A revoked key is dead after this, even in a process that hears of nothing. */
const REVOKED_WITHIN_MS = 1_000;

const HOUR_MS = 3_600_000;

/** A start, with its migrations, takes about as long. */
const UPGRADE_KILLED_WITHIN_MS = 3_000;

export const FAULTS: readonly (readonly [weight: number, name: string, fault: Fault])[] = [
  [24, 'kill a process', async (chaos) => killed(chaos, chaos.scene.random.pick(chaos.town.mortal()))],
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
  [1, 'clock an hour behind', clock],
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

function killed({ scene, town }: Chaos, member: Member): Promise<void> {
  return town.killMember(member, scene.random.between(0, 500));
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

/** Every process finds its clock an hour behind, and right again later. */
async function clock({ scene, town }: Chaos): Promise<void> {
  const { shop } = scene;
  // One jump at a time.
  if (shop.clock.now() < Date.now() - HOUR_MS / 2) return;
  await shop.clock.advance(-HOUR_MS);
  town.lasting(
    () => {},
    // The run may be over, and the file of its clock gone.
    () => void shop.clock.advance(HOUR_MS).catch(() => {}),
    length(scene),
  );
}

async function rollingRestart({ town }: Chaos): Promise<void> {
  for (const member of town.members) await town.restartMember(member);
}

/** A backup may fail while the database is away, but none that was made lacks what was there. */
async function backup({ scene, clients, folder, backups }: Chaos): Promise<void> {
  const acknowledged = clients.acknowledged() + scene.orders.length;
  const file = path.join(folder, `${scene.step}.backup`);
  const made = await scene.shop.service.command(`backup ${file}`).then(
    () => true,
    () => false,
  );
  if (made) backups.push({ file, acknowledged });
}

/** A backup, and everything is lost; the backup takes its place. Nothing may be under way. */
export async function restoreAll(chaos: Chaos): Promise<void> {
  const { scene, town, folder } = chaos;
  const file = path.join(folder, `all-${scene.step}.backup`);
  await scene.shop.service.command(`backup ${file}`);
  await town.restore(file);
  chaos.restores += 1;
  await town.calm();
}

/**
 * Brings each process in turn to this version, while processes are killed, the database too, and every way fails. The
 * first one that starts migrates, and is killed in it.
 */
export async function upgradeAll(chaos: Chaos): Promise<void> {
  const { town, scene } = chaos;
  await town.upgrade();
  for (const member of town.members) {
    for (let kills = 2; kills > 0; kills -= 1) {
      await town.killMember(member, 0);
      await passed(scene.random.between(0, UPGRADE_KILLED_WITHIN_MS));
    }
    const [, , fault] = scene.random.pick(FAULTS);
    await fault(chaos);
    await town.restartMember(member);
  }
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
