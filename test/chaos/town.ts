import { mkdtemp, chmod, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { Client } from 'pg';
import { startMailServer, type MailServer } from '../../bench/mail-server.ts';
import { program } from '../../src/cli/program.fixture.ts';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { createService, type Service } from '../e2e/live-utxo-service.fixture.ts';
import { isAlive, eventually } from '../program.ts';
import { startRedis, type TestRedis } from '../redis.ts';
import type { Random } from '../simulation/random.ts';
import { addMember, type Member, type Settings } from './member.ts';
import { startProxy, type Proxy } from './proxy.ts';

const CHECKOUT = path.join(import.meta.dirname, '../..');

/** Characters. */
const KEPT_LOG = 100_000;

/** A restore of a run takes some seconds, and is killed within the first of them. */
const RESTORE_KILLED_WITHIN_MS = 4_000;

/** Four processes in two roles, and everything that they depend on. */
export interface Town {
  /** The settings of everything that the processes share. */
  readonly env: Settings;
  readonly members: readonly Member[];
  /** The members that may be killed. */
  readonly mortal: () => readonly Member[];
  readonly redis: TestRedis;
  readonly mail: MailServer;
  /** The way of shops and customers to the two API processes. */
  readonly toApi: () => Proxy;
  /** Kills a process; it starts again after this time, or at the next calm. One that is spared goes on. */
  killMember(member: Member, afterMs: number): Promise<void>;
  restartMember(member: Member): Promise<void>;
  /** Kills all of the database's processes; the server is started again at once. */
  killDatabase(): Promise<void>;
  /** Each process is of this version from its next start on, and each command at once. */
  upgrade(): Promise<void>;
  /** Puts a backup in the place of the database, as an operator does; the restore is killed on its way and repeated. */
  restore(file: string): Promise<void>;
  /** Lets a condition last for a while; it ends no later than at the next calm. */
  lasting(begin: () => void, end: () => void, forMs: number): void;
  /** Ends every disturbance, and resolves when all four processes run. */
  calm(): Promise<void>;
  /** The processes as the one service that `openShop` runs. Commands go past the proxies. */
  run(settings: Settings): Promise<Service>;
  /** How many processes and databases were killed. */
  kills(): number;
  /** The ends of the logs of processes that ended. */
  log(): string;
  close(): Promise<void>;
}

export interface TownOptions {
  /** The folder of an earlier version that all processes begin with; null: they begin with this one. */
  readonly earlier: string | null;
  /** Whether the first process of each role is never killed nor restarted. */
  readonly isFirstSpared: boolean;
}

export async function startTown(random: Random, { earlier, isFirstSpared }: TownOptions): Promise<Town> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-chaos-'));
  await chmod(folder, 0o755);
  const database = await startEmbeddedPostgres({ dataDir: folder, log: () => {} });
  const { host, port: number, user, database: name } = database.connection;
  const directUrl = `postgres://${user}@${encodeURIComponent(host)}:${number}/${name}`;
  const redis = await startRedis();
  const mail = await startMailServer();
  const members: Member[] = [];
  const closers: (() => Promise<unknown>)[] = [];
  let log = '';
  let toApi: Proxy | null = null;
  let commandsOf = earlier ?? CHECKOUT;
  let shopSettings: Settings = {};
  let [kills, isClosing] = [0, false];
  const endings = new Set<() => void>();

  const isSpared = (member: Member): boolean => isFirstSpared && member.name.endsWith(' 1');
  const lasting = (begin: () => void, end: () => void, forMs: number): void => {
    begin();
    const once = (): void => {
      clearTimeout(timer);
      if (endings.delete(once)) end();
    };
    const timer = setTimeout(once, forMs);
    endings.add(once);
  };
  const endAll = (): void => {
    for (const end of endings) end();
    for (const { toDatabase } of members) toDatabase.become('works');
    toApi?.become('works');
    redis.thaw();
  };
  const calm = async (): Promise<void> => {
    endAll();
    await mail.become('works');
    await database.ready();
    // The first one migrates.
    const [first, ...others] = members.filter((member) => !member.isRunning());
    await first?.start();
    await Promise.all(others.map((member) => member.start()));
  };
  const killMember = async (member: Member, afterMs: number): Promise<void> => {
    if (isSpared(member) || !(await member.kill())) return;
    kills += 1;
    lasting(
      () => {},
      () => void member.start().catch((error: unknown) => (log += `${String(error)}\n`)),
      afterMs,
    );
  };
  const administer = async (...statements: readonly string[]): Promise<void> => {
    const client = new Client({ host, port: number, user, database: 'postgres' });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  const restore = async (file: string): Promise<void> => {
    for (const member of members) await member.stop();
    await administer(`drop database ${name} with (force)`, `create database ${name}`);
    const cointill = await program(shopSettings, 'process', (end) => void closers.push(end), commandsOf);
    const begin = () => cointill.start('restore', file, '--to', directUrl);
    const killed = begin();
    await passed(random.between(0, RESTORE_KILLED_WITHIN_MS));
    killed.signal('SIGKILL');
    if ((await killed.ended).code === null) kills += 1;
    // The killed one may have saved everything and lacked its last words alone.
    await administer(`drop database ${name} with (force)`, `create database ${name}`);
    const { code, stderr } = await begin().ended;
    if (code !== 0) throw new Error(`The restore ended with ${code}: ${stderr}`);
  };
  return {
    env: {
      DATABASE_URL: directUrl,
      SECRET_KEY: 'one-key-for-all-processes-of-a-town',
      REDIS_URL: redis.url,
      SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
      MAIL_FROM: 'shop@shop.example',
    },
    members,
    mortal: () => members.filter((member) => !isSpared(member)),
    redis,
    mail,
    toApi: () => {
      if (toApi === null) throw new Error('The town does not run yet.');
      return toApi;
    },
    killMember,
    restartMember: async (member) => {
      if (!isSpared(member)) await member.restart();
    },
    killDatabase: async () => {
      const pid = database.postmasterPid();
      // Killed a moment ago, and not started again yet.
      if (!isAlive(pid)) return;
      kills += 1;
      process.kill(pid, 'SIGKILL');
      await eventually('the database ended', () => (isAlive(pid) ? null : true));
    },
    upgrade: async () => {
      commandsOf = CHECKOUT;
      for (const member of members) await member.use(CHECKOUT);
    },
    restore,
    lasting,
    calm,
    run: async (given) => {
      const { PORT = '', ...settings } = given;
      shopSettings = settings;
      const socket = path.join(host, `.s.PGSQL.${number}`);
      for (const [role, index] of [
        ['api', 1],
        ['api', 2],
        ['worker', 1],
        ['worker', 2],
      ] as const)
        members.push(
          await addMember({
            role,
            index,
            settings,
            checkout: commandsOf,
            database: { user, name, socket },
            isClosing: () => isClosing,
            onLog: (text) => (log = (log + text).slice(-KEPT_LOG)),
            onClose: (close) => closers.push(close),
          }),
        );
      toApi = await startProxy(() => members.flatMap(({ port }) => port ?? []), Number(PORT));
      return {
        command: (line) => createService(settings, commandsOf).command(line),
        start: calm,
        stop: async () => {
          await calm();
          for (const member of members.filter((one) => !isSpared(one))) await member.stop();
        },
        kill: async () => {
          for (const member of members) await killMember(member, random.below(500));
        },
        wasKilled: () => kills > 0,
        log: () => log,
      };
    },
    kills: () => kills,
    log: () => log,
    close: async () => {
      isClosing = true;
      endAll();
      for (const close of closers) await close();
      toApi?.close();
      await mail.become('away');
      await redis.stop();
      await database.kill();
      await passed(100);
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
