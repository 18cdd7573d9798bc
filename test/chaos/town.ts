import { mkdtemp, chmod, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as passed } from 'node:timers/promises';
import { startMailServer, type MailServer } from '../../bench/mail-server.ts';
import { program, type Running } from '../../src/cli/program.fixture.ts';
import { startEmbeddedPostgres } from '../../src/embedded/postgres.ts';
import { createService, type Service } from '../e2e/live-utxo-service.fixture.ts';
import { freePort } from '../ports.ts';
import { isAlive, eventually } from '../program.ts';
import { startRedis, type TestRedis } from '../redis.ts';
import type { Random } from '../simulation/random.ts';
import { startProxy, type Proxy } from './proxy.ts';

/** The database may be away and come back meanwhile. */
const START_WITHIN_MS = 120_000;

type Settings = Readonly<Record<string, string>>;

/** One process of the program, and its way to the database. */
export interface Member {
  readonly name: string;
  /** Where an API process takes live requests; null: a worker. */
  readonly port: number | null;
  readonly toDatabase: Proxy;
  isRunning(): boolean;
  /** Resolves when it runs. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Kills it; it starts again after this time, or at the next calm. */
  kill(afterMs: number): Promise<void>;
  /** Stops it in good order and starts it again. */
  restart(): Promise<void>;
}

/** Four processes in two roles, and everything that they depend on. */
export interface Town {
  /** The settings of everything that the processes share. */
  readonly env: Settings;
  readonly members: readonly Member[];
  readonly redis: TestRedis;
  readonly mail: MailServer;
  /** The way of shops and customers to the two API processes. */
  readonly toApi: () => Proxy;
  /** Kills all of the database's processes; the server is started again at once. */
  killDatabase(): Promise<void>;
  /** Lets a condition last for a while; it ends no later than at the next calm. */
  lasting(begin: () => void, end: () => void, forMs: number): void;
  /** Ends every disturbance, and resolves when all four processes run. */
  calm(): Promise<void>;
  /** The processes as the one service that `openShop` runs. Commands go past the proxies. */
  run(settings: Settings): Promise<Service>;
  /** How many processes, databases and Redis servers were killed. */
  kills(): number;
  /** The ends of the logs of processes that ended. */
  log(): string;
  close(): Promise<void>;
}

export async function startTown(random: Random): Promise<Town> {
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
  let [kills, isClosing] = [0, false];
  const endings = new Set<() => void>();

  const addMember = async (role: 'api' | 'worker', index: number, settings: Settings): Promise<void> => {
    const toDatabase = await startProxy(() => [path.join(host, `.s.PGSQL.${number}`)]);
    const [port, other] = [await freePort(), await freePort()];
    const ports =
      role === 'api'
        ? { PORT: String(port), SANDBOX_PORT: String(other), MONITOR_PORT: '' }
        : { MONITOR_PORT: String(port), PORT: '', SANDBOX_PORT: '' };
    const url = `postgres://${user}@127.0.0.1:${toDatabase.port}/${name}`;
    const cointill = await program({ ...settings, ...ports, ROLE: role, DATABASE_URL: url }, 'process', (end) => {
      closers.push(end);
      closers.push(async () => toDatabase.close());
    });
    let running: Running | null = null;
    let starting: Promise<void> | null = null;
    const begin = async (): Promise<true> => {
      if (isClosing) return true;
      const next = cointill.start('start');
      void next.ended.then(({ stderr }) => (log += `--- ${role} ${index}\n${stderr.slice(-2_000)}\n`));
      await next.waitFor(/Stop with Ctrl-C\./);
      running = next;
      return true;
    };
    const start = (): Promise<void> => {
      // A start may fail because the database was just killed: then an operator's supervisor repeats it.
      starting ??= eventually(`${role} ${index} starts`, begin, START_WITHIN_MS).then(() => void (starting = null));
      return starting;
    };
    const end = async (signal: NodeJS.Signals): Promise<boolean> => {
      const ending = running;
      running = null;
      ending?.signal(signal);
      await ending?.ended;
      return ending !== null;
    };
    members.push({
      name: `${role} ${index}`,
      port: role === 'api' ? port : null,
      toDatabase,
      isRunning: () => running !== null,
      start,
      kill: async (afterMs) => {
        if (!(await end('SIGKILL'))) return;
        kills += 1;
        lasting(
          () => {},
          () => void start().catch((error: unknown) => (log += `${String(error)}\n`)),
          afterMs,
        );
      },
      stop: async () => void (await end('SIGTERM')),
      restart: async () => {
        if (await end('SIGTERM')) await start();
      },
    });
  };

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
    // One after another: the first one migrates.
    for (const member of members) if (!member.isRunning()) await member.start();
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
    redis,
    mail,
    toApi: () => {
      if (toApi === null) throw new Error('The town does not run yet.');
      return toApi;
    },
    killDatabase: async () => {
      const pid = database.postmasterPid();
      // Killed a moment ago, and not started again yet.
      if (!isAlive(pid)) return;
      kills += 1;
      process.kill(pid, 'SIGKILL');
      await eventually('the database ended', () => (isAlive(pid) ? null : true));
    },
    lasting,
    calm,
    run: async (given) => {
      const { PORT = '', ...settings } = given;
      const commands = createService(settings);
      for (const [role, index] of [
        ['api', 1],
        ['api', 2],
        ['worker', 1],
        ['worker', 2],
      ] as const)
        await addMember(role, index, settings);
      toApi = await startProxy(() => members.flatMap(({ port }) => port ?? []), Number(PORT));
      return {
        command: (line) => commands.command(line),
        start: calm,
        stop: async () => {
          await calm();
          for (const member of members) await member.stop();
        },
        kill: async () => {
          for (const member of members) await member.kill(random.below(500));
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
