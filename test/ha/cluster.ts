import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Client } from 'pg';
import { eventually } from '../program.ts';

const run = promisify(execFile);
const DEPLOY = path.join(import.meta.dirname, '../../deploy/ha');
const NODES = [1, 2, 3] as const;
export type NodeNumber = (typeof NODES)[number];

/** The machines of deploy/ha are addresses of this one's loopback network, so that every port is as in the recipe. */
const addressOf = (node: number): string => `127.61.0.${node}`;
/** The machine of Cointill, with haproxy and PgBouncer. */
const HERE = addressOf(9);
const DATABASE_PORT = 5432;
const POOLER_PORT = 6432;
const STARTS_WITHIN_MS = 120_000;

/** A member as Patroni's REST interface tells it. */
interface Member {
  readonly name: string;
  readonly role: string;
  readonly state: string;
}

/** Three nodes of PostgreSQL under Patroni, etcd, haproxy and PgBouncer, as deploy/ha describes them. */
export interface Cluster {
  /** By way of haproxy: to the primary, and to a standby. */
  readonly primaryUrl: string;
  readonly standbyUrl: string;
  /** By way of PgBouncer, while it runs. */
  readonly poolerUrl: string;
  /** The number of the node that leads. */
  leader(): Promise<NodeNumber>;
  others(of: NodeNumber): readonly NodeNumber[];
  /** Ends everything of the node at once, as a machine does that loses its power. */
  kill(node: NodeNumber): Promise<void>;
  start(node: NodeNumber): void;
  /** Until three nodes follow one of them, and one confirms commits, if they are synchronous. */
  untilWhole(): Promise<void>;
  /** Makes the node that confirms commits the leader, in an orderly way; returns its number. */
  switchover(): Promise<NodeNumber>;
  setSynchronous(isSynchronous: boolean): Promise<void>;
  /** From now on a leader sends no changes to its standbys, until it is killed. */
  holdBack(node: NodeNumber): Promise<void>;
  /** Starts PgBouncer, of the root or a program of this machine, or changes its settings while it runs. */
  pooler(settings: Readonly<Record<string, string>>, ownProgram?: string): Promise<void>;
  stopPooler(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts the cluster in a root that scripts/ha-root.sh made, and makes the service's role and database. */
export async function startCluster(root: string): Promise<Cluster> {
  const inside = '/var/lib/postgresql/test-ha';
  const outside = path.join(root, inside);
  const { uid, gid } = await postgresOf(root);
  const own = async (folder: string): Promise<void> => {
    await mkdir(folder, { recursive: true });
    await chown(folder, uid, gid);
    await chmod(folder, 0o700);
  };
  await rm(outside, { recursive: true, force: true });
  await own(outside);
  const put = async (name: string, text: string): Promise<string> => {
    await writeFile(path.join(outside, name), text);
    await chown(path.join(outside, name), uid, gid);
    return `${inside}/${name}`;
  };
  // Patroni finds its server in /proc.
  const isMounted = (await readFile('/proc/self/mounts', 'utf8')).includes(` ${path.join(root, 'proc')} `);
  if (!isMounted) await run('mount', ['-t', 'proc', 'proc', path.join(root, 'proc')]);
  const passwords = { superuser: randomBytes(12).toString('hex'), own: randomBytes(12).toString('hex') };
  const launched = new Set<ChildProcess>();
  const launch = (words: readonly string[], env: Readonly<Record<string, string>> = {}): ChildProcess => {
    const user = ['--userspec=postgres:postgres', root];
    const child = spawn('chroot', [...user, ...words], {
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: inside, LANG: 'C.UTF-8', ...env },
      stdio: 'ignore',
      cwd: '/',
    });
    launched.add(child);
    child.once('exit', () => launched.delete(child));
    return child;
  };

  const etcdUrl = `http://${addressOf(1)}:2379`;
  const peer = `http://${addressOf(1)}:2380`;
  const etcd = `etcd --data-dir ${inside}/etcd --unsafe-no-fsync --logger=zap --log-level=error
    --listen-client-urls ${etcdUrl} --advertise-client-urls ${etcdUrl} --listen-peer-urls ${peer}
    --initial-advertise-peer-urls ${peer} --initial-cluster default=${peer}`;
  launch(etcd.split(/\s+/));
  const recipe = (await readFile(path.join(DEPLOY, 'patroni.yml'), 'utf8'))
    // Connections between addresses of the loopback network come from 127.0.0.1.
    .replaceAll('10.0.0.0/24', '127.0.0.0/8')
    .replace(/^ {2}hosts: 10\.0\.0\.1.*$/m, `  hosts: ${addressOf(1)}:2379`);
  const running = new Map<NodeNumber, ChildProcess>();
  const dataOf = (node: NodeNumber): string => `n${node}/data`;
  const start = (node: NodeNumber): void => {
    const ip = addressOf(node);
    const child = launch(['patroni', `${inside}/n${node}/patroni.yml`], {
      PATRONI_NAME: `node${node}`,
      PATRONI_RESTAPI_LISTEN: `${ip}:8008`,
      PATRONI_RESTAPI_CONNECT_ADDRESS: `${ip}:8008`,
      PATRONI_POSTGRESQL_LISTEN: `${ip}:${DATABASE_PORT}`,
      PATRONI_POSTGRESQL_CONNECT_ADDRESS: `${ip}:${DATABASE_PORT}`,
      PATRONI_POSTGRESQL_DATA_DIR: `${inside}/${dataOf(node)}`,
      PATRONI_POSTGRESQL_PGPASS: `${inside}/n${node}/pgpass`,
      PATRONI_SUPERUSER_USERNAME: 'postgres',
      PATRONI_SUPERUSER_PASSWORD: passwords.superuser,
      PATRONI_REPLICATION_USERNAME: 'replicator',
      PATRONI_REPLICATION_PASSWORD: passwords.superuser,
      PATRONI_LOG_DIR: `${inside}/n${node}`,
    });
    running.set(node, child);
  };
  for (const node of NODES) {
    await own(path.join(outside, `n${node}`));
    // The three share one root, and a container has little shared memory.
    const more = `  parameters:\n    unix_socket_directories: ${inside}/n${node}\n    dynamic_shared_memory_type: mmap\n    shared_buffers: 64MB\n`;
    await put(`n${node}/patroni.yml`, recipe + more);
    start(node);
  }
  const haproxy = (await readFile(path.join(DEPLOY, 'haproxy.cfg'), 'utf8'))
    .replaceAll('10.0.0.', '127.61.0.')
    .replaceAll('bind 127.0.0.1:', `bind ${HERE}:`);
  launch(['haproxy', '-db', '-q', '-f', await put('haproxy.cfg', haproxy)]);

  const members = async (): Promise<readonly Member[]> => {
    for (const node of NODES) {
      const told = await fetch(`http://${addressOf(node)}:8008/cluster`, { signal: AbortSignal.timeout(2_000) })
        .then((answer) => answer.json())
        .catch(() => null);
      const found: unknown = Object(told)['members'];
      if (Array.isArray(found)) return found;
    }
    return [];
  };
  let isSynchronous = true;
  const isWhole = async (): Promise<true | null> => {
    const all = await members();
    const leads = all.filter(({ role, state }) => role === 'leader' && state === 'running');
    const follows = all.filter(({ role, state }) => role !== 'leader' && state === 'streaming');
    const confirms = all.filter(({ role }) => role === 'sync_standby' || role === 'quorum_standby');
    const isSafe = confirms.length > 0 === isSynchronous;
    return leads.length === 1 && follows.length === NODES.length - 1 && isSafe ? true : null;
  };
  const untilWhole = async (): Promise<void> => {
    await eventually('three nodes follow one of them', isWhole, STARTS_WITHIN_MS);
  };
  const numberOf = ({ name }: Member): NodeNumber => Number(name.slice(-1)) as NodeNumber;
  const leader = async (): Promise<NodeNumber> =>
    eventually(
      'a node leads',
      async () => {
        const found = (await members()).find(({ role, state }) => role === 'leader' && state === 'running');
        return found === undefined ? null : numberOf(found);
      },
      STARTS_WITHIN_MS,
    );
  const post = async (node: NodeNumber, where: string, method: string, body: object): Promise<void> => {
    const answer = await fetch(`http://${addressOf(node)}:8008/${where}`, { method, body: JSON.stringify(body) });
    if (!answer.ok) throw new Error(`Patroni refuses ${where}: ${answer.status} ${await answer.text()}`);
  };
  const postmaster = async (node: NodeNumber): Promise<number | null> => {
    const text = await readFile(path.join(outside, dataOf(node), 'postmaster.pid'), 'utf8').catch(() => null);
    return text === null ? null : Number(text.split('\n', 1)[0]);
  };

  const kill = async (node: NodeNumber): Promise<void> => {
    const pid = await postmaster(node);
    const children = pid === null ? '' : (await run('pgrep', ['-P', String(pid)]).catch(() => ({ stdout: '' }))).stdout;
    running.get(node)?.kill('SIGKILL');
    for (const one of [pid, ...children.split('\n').filter(Boolean).map(Number)]) {
      if (one !== null) killIfThere(one);
    }
  };
  const stop = async (): Promise<void> => {
    for (const node of NODES) await kill(node);
    await Promise.all([...launched].map((child) => ended(child, 'SIGKILL')));
    if (!isMounted) await run('umount', [path.join(root, 'proc')]);
  };

  // A client that failed to connect cannot try again.
  const connect = async (): Promise<Client> => {
    const password = passwords.superuser;
    const client = new Client({ host: HERE, port: 5000, user: 'postgres', password, database: 'postgres' });
    await client.connect();
    return client;
  };
  try {
    await untilWhole();
    const asSuperuser = await eventually('haproxy leads to the primary', connect, 20_000);
    await asSuperuser.query(`create role cointill login password '${passwords.own}' in role pg_monitor`);
    await asSuperuser.query('create database cointill owner cointill');
    await asSuperuser.end();
  } catch (error) {
    await stop();
    throw error;
  }
  const url = (port: number): string => `postgres://cointill:${passwords.own}@${HERE}:${port}/cointill`;

  let pooling: ChildProcess | null = null;
  return {
    primaryUrl: url(5000),
    standbyUrl: url(5001),
    poolerUrl: url(POOLER_PORT),
    leader,
    others: (of) => NODES.filter((node) => node !== of),
    kill,
    start,
    untilWhole,
    switchover: async () => {
      const all = await members();
      const from = await leader();
      const to = all.find(({ role }) => role === 'sync_standby' || role === 'quorum_standby');
      if (to === undefined) throw new Error('No standby confirms commits.');
      await post(from, 'switchover', 'POST', { leader: `node${from}`, candidate: to.name });
      return numberOf(to);
    },
    setSynchronous: async (wanted) => {
      isSynchronous = wanted;
      await post(await leader(), 'config', 'PATCH', { synchronous_mode: wanted });
      await untilWhole();
    },
    holdBack: async (node) => {
      const { stdout } = await run('pgrep', ['-P', String(await postmaster(node)), '-f', 'walsender']);
      for (const pid of stdout.trim().split('\n')) process.kill(Number(pid), 'SIGSTOP');
    },
    pooler: async (settings, ownProgram) => {
      const folder = ownProgram === undefined ? inside : await mkdtemp(path.join(tmpdir(), 'cointill-ha-'));
      let text = (await readFile(path.join(DEPLOY, 'pgbouncer.ini'), 'utf8'))
        .replaceAll('127.0.0.1', HERE)
        .replace(/^auth_file = .*$/m, `auth_file = ${folder}/userlist.txt\nlogfile = ${folder}/pgbouncer.log`);
      for (const [name, value] of Object.entries(settings)) {
        text = text.replace(new RegExp(`^${name} = .*$`, 'm'), value === '' ? '' : `${name} = ${value}`);
      }
      const users = `"cointill" "${passwords.own}"\n`;
      if (ownProgram === undefined) {
        await put('userlist.txt', users);
        const file = await put('pgbouncer.ini', text);
        if (pooling === null) pooling = launch(['pgbouncer', file]);
        else pooling.kill('SIGHUP');
        return;
      }
      await chmod(folder, 0o777);
      await writeFile(path.join(folder, 'userlist.txt'), users);
      await writeFile(path.join(folder, 'pgbouncer.ini'), text);
      pooling = spawn(ownProgram, ['-u', 'postgres', path.join(folder, 'pgbouncer.ini')], { stdio: 'ignore' });
      launched.add(pooling);
    },
    stopPooler: async () => {
      if (pooling !== null) await ended(pooling, 'SIGTERM');
      pooling = null;
    },
    stop,
  };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const over = new Promise((resolve) => void child.once('exit', resolve));
  child.kill(signal);
  await over;
}

function killIfThere(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended by itself.
  }
}

/** The ids of the user `postgres` in a root. */
async function postgresOf(root: string): Promise<{ readonly uid: number; readonly gid: number }> {
  const users = await readFile(path.join(root, 'etc/passwd'), 'utf8').catch(() => '');
  const found = /^postgres:[^:]*:(\d+):(\d+):/m.exec(users);
  if (found === null) {
    throw new Error(`HA_ROOT=${root} is no root with PostgreSQL. Make one: sh scripts/ha-root.sh ${root}`);
  }
  return { uid: Number(found[1]), gid: Number(found[2]) };
}
