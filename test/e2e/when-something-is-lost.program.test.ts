import { execFile, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseEther } from 'viem';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { parseEnvFile } from '../../src/config/env-file.ts';
import { receive, selfSigned, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { emptyDatabase } from '../database.ts';
import { DEADLINE_MS } from '../deadline.ts';
import { isNight } from '../extent.ts';
import { client, eventOf, eventually, freePort, killProcess } from '../program.ts';
import { putReadyCluster } from '../ready-cluster.ts';

/**
 * The page, followed word for word by a machine: every command of a part is run in its order, on an installation that
 * has lost what the part is about. Only places and names are put where the page has its examples.
 */
const PAGE = await readFile(path.join(import.meta.dirname, '../../docs/when-something-is-lost.md'), 'utf8');
const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');
const SOON = { timeout: DEADLINE_MS, interval: 100 };

/** The lines of the shell in the blocks of a part that lie between two texts of it. */
function commandsOf(part: string, from = '', to?: string): readonly string[] {
  const text = PAGE.split(/^## /m).find((one) => one.startsWith(`${part}\n`)) ?? '';
  const start = text.indexOf(from);
  expect(start, `${part}: ${from}`).toBeGreaterThanOrEqual(0);
  const piece = text.slice(start, to === undefined ? undefined : text.indexOf(to, start));
  return [...piece.matchAll(/```sh\n([^]*?)```/g)].flatMap(([, block = '']) =>
    block
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== ''),
  );
}

/** The installed command, and what the page begins with: how root runs a command with the settings of the service. */
const SHELL = `cointill() { /opt/cointill/bin/cointill --settings /etc/cointill.env "$@"; }
${/```sh\n([^]*?)```/.exec(PAGE)?.[1] ?? ''}`;

/** An installation: its file of settings, its service, and how to follow a line of the page on it. */
class Installation {
  readonly settingsFile: string;
  /** The test's values for the page's examples; the first match in a text counts. */
  readonly places: Map<string, string>;
  #service: ReturnType<typeof spawn> | null = null;

  constructor(settingsFile: string) {
    this.settingsFile = settingsFile;
    this.places = new Map([
      ['/etc/cointill.env', settingsFile],
      ['/opt/cointill/bin/cointill', PROGRAM],
      // The user who runs the tests is the user of the service.
      ['-o cointill -g cointill ', ''],
    ]);
  }

  /** The settings, read as systemd and the page's own commands read them. */
  async settings(): Promise<Readonly<Record<string, string>>> {
    return parseEnvFile(await readFile(this.settingsFile, 'utf8')).settings;
  }

  async set(name: string, value: string): Promise<void> {
    const lines = (await readFile(this.settingsFile, 'utf8'))
      .split('\n')
      .filter((line) => !line.startsWith(`${name}=`));
    await writeFile(this.settingsFile, [`${name}='${value}'`, ...lines].join('\n'));
  }

  async start(): Promise<void> {
    const child = spawn(PROGRAM, ['start'], { env: await this.settings(), stdio: ['ignore', 'pipe', 'pipe'] });
    this.#service = child;
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (part) => (text += part));
    const runs = eventually('the service runs', () => (text.includes('Stop with Ctrl-C.') ? true : null));
    const ends = once(child, 'close').then(() => {
      throw new Error(`It ended: ${text}`);
    });
    // Later it is allowed to end.
    ends.catch(() => {});
    runs.catch(() => {});
    await Promise.race([runs, ends]);
  }

  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#service;
    this.#service = null;
    if (child === null || child.exitCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  async cointill(...args: readonly string[]): Promise<unknown> {
    const { stdout } = await promisify(execFile)(PROGRAM, [...args, '--json'], { env: await this.settings() });
    return JSON.parse(stdout);
  }

  /** One line of the page, in a shell that begins as the page says; only the service is started and stopped here. */
  async follow(line: string): Promise<unknown> {
    const [, action] = /^systemctl (stop|start|restart) cointill$/.exec(line) ?? [];
    if (action !== undefined) {
      if (action !== 'start') await this.stop();
      if (action !== 'stop') await this.start();
      return undefined;
    }
    const isOurs = line.startsWith('cointill');
    const { stdout } = await this.#shell(`${this.#placed(SHELL)}\n${this.#placed(line)}${isOurs ? ' --json' : ''}`);
    return isOurs ? JSON.parse(stdout) : undefined;
  }

  #shell(script: string): Promise<{ readonly stdout: string }> {
    const { PATH = '', HOME = '' } = process.env;
    return promisify(execFile)('sh', ['-euc', script], { env: { PATH, HOME } });
  }

  #placed(text: string): string {
    const examples = [...this.places.keys()].map((one) => one.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`));
    return text.replaceAll(new RegExp(examples.join('|'), 'g'), (example) => this.places.get(example) ?? example);
  }
}

let anvil: Anvil;
let receiver: LocalReceiver;
let home: string;
let trust: string;
/** Stops what a test started; called before its folder is removed. */
let stopShop: () => Promise<void> = async () => {};

beforeEach(async () => {
  const tls = selfSigned('localhost');
  home = await mkdtemp(path.join(os.tmpdir(), 'cointill-lost-'));
  // Started by root, the embedded database runs as another user, who needs access.
  await chmod(home, 0o755);
  trust = path.join(home, 'certificate.pem');
  await writeFile(trust, tls.cert);
  [anvil, receiver] = await Promise.all([startAnvil(), receive((response) => void response.end(), { tls })]);
});
afterEach(async () => {
  await stopShop();
  await Promise.all([anvil.stop(), receiver.close()]);
  // A killed server's processes end a moment later, and write until then.
  await rm(home, { recursive: true, force: true, maxRetries: 5 });
});

/** A shop that sells for ether, and has a backup; `lost` is an order of after it, which nothing knows but the chain. */
async function shop(more: Readonly<Record<string, string>> = {}) {
  const { PATH = '', HOME = '' } = process.env;
  const [port, sandboxPort] = [await freePort(), await freePort()];
  const dataDir = path.join(home, 'data');
  const file = path.join(home, 'backups');
  await mkdir(file);
  if (more['DATABASE_URL'] === undefined) {
    await mkdir(dataDir);
    await putReadyCluster(dataDir);
  }
  const env = {
    PATH,
    HOME,
    DATA_DIR: dataDir,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_CHAIN_ID: '31337',
    NODE_POLL_MS: '100',
    RATE_SOURCES: 'none',
    FIXED_RATES: 'ETH=3000',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: trust,
    ...more,
  };
  const settingsFile = path.join(home, 'cointill.env');
  const lines = Object.entries(env).map(([name, value]) => `${name}='${value}'\n`);
  await writeFile(settingsFile, lines.join(''), { mode: 0o600 });
  const installation = new Installation(settingsFile);
  const { places } = installation;
  stopShop = async () => {
    await installation.stop('SIGKILL');
    for (const dir of [dataDir, path.join(home, 'restored')]) await killServer(dir);
  };
  await installation.start();
  const url = `http://127.0.0.1:${port}`;
  const projectId = textAt(await installation.cointill('project', 'create', '--name', 'Shop'), 'id');
  const scope = ['--project', projectId];
  const key = textAt(
    await installation.cointill(
      ...'key create --mode live --kind secret --permission full --name Server'.split(' '),
      ...scope,
    ),
    'key',
  );
  const endpoint = await installation.cointill(
    'webhook',
    'create',
    '--mode',
    'live',
    '--events',
    'all,payment.lost',
    '--url',
    `https://localhost:${receiver.port}/`,
    ...scope,
  );
  await installation.cointill(
    'wallet',
    'set',
    '--network',
    'ethereum',
    '--confirmations',
    '2',
    '--xpub',
    xpubOf(account(5)),
    ...scope,
  );
  const api = client(url, key);
  const order = async () => {
    const { body } = await api('/v1/orders', { amount: 30, currency: 'USD', crypto_currency: 'ETH' });
    const id = textAt(body, 'id');
    return { id, address: textAt((await api(`/v1/orders/${id}`)).body, 'address') };
  };
  const pay = async (address: string): Promise<void> => {
    await anvil.transfer(address, parseEther('0.01'));
    await anvil.mine(3);
  };
  const isCompleted = async ({ id }: { readonly id: string }): Promise<void> => {
    await expect.poll(async () => (await api(`/v1/orders/${id}`)).body, SOON).toMatchObject({ status: 'completed' });
  };
  const secret = textAt(endpoint, 'secret');
  /** The events that the shop received, each once; every delivery is signed. */
  const told = (
    secrets: readonly string[] = [secret],
    from = 0,
  ): readonly { readonly type: string; readonly data: object }[] => {
    const events = receiver.requests.slice(from).map((request) => {
      const signatures = secrets.map((one) => createHmac('sha256', one).update(request.body).digest('hex'));
      expect(signatures).toContain(request.headers['x-service-signature']);
      return eventOf(request);
    });
    return [...new Map(events.map((event) => [event.id, event])).values()];
  };
  const first = await order();
  await pay(first.address);
  await isCompleted(first);
  const backup = textAt(await installation.cointill('backup', `${file}/`), 'file');
  const lost = await order();
  return {
    installation,
    places,
    api,
    order,
    pay,
    isCompleted,
    told,
    first,
    lost,
    backup,
    dataDir,
    endpointId: textAt(endpoint, 'id'),
  };
}

async function killServer(dataDir: string): Promise<void> {
  const text = await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number(text.split('\n')[0]);
  if (pid > 0) await killProcess(pid).catch(() => {});
}

type Shop = Awaited<ReturnType<typeof shop>>;

/** A restored shop sells: an order is made, paid on the node, and its webhook comes. */
async function sellsOn({ order, pay, isCompleted, told, first, lost, api }: Shop): Promise<void> {
  expect((await api(`/v1/orders/${first.id}`)).body).toMatchObject({ status: 'completed' });
  const next = await order();
  expect([first.address, lost.address]).not.toContain(next.address);
  await pay(next.address);
  await isCompleted(next);
  await expect
    .poll(
      () => told().some(({ type, data }) => type === 'order.completed' && Reflect.get(data, 'id') === next.id),
      SOON,
    )
    .toBe(true);
}

/** A second loss: the same file restored once more begins beyond the copy that sells by now. */
async function isNotedFor({ installation, backup }: Shop): Promise<void> {
  const again = await installation.cointill('restore', backup, '--data-dir', path.join(home, 'again'));
  expect(again).toMatchObject({
    earlier_restores: [{ restored_to: path.join(home, 'restored') }],
    noted_in: path.join(path.dirname(backup), 'cointill-restores.jsonl'),
    note_problem: null,
    wallets: [{ network: 'ethereum', next_index: expect.any(Number) }],
  });
  const notes = (await readFile(path.join(path.dirname(backup), 'cointill-restores.jsonl'), 'utf8')).trim().split('\n');
  const [first, second] = notes
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as { wallets: readonly { next_index: number }[] }).wallets[0]?.next_index ?? 0);
  expect(second).toBeGreaterThan((first ?? 0) + 1_000);
}

/** The money of the order that the restore lost is found, and booked with the page's own command. */
async function isBooked({ installation, places, pay, told, lost, isCompleted }: Shop, line: string): Promise<void> {
  await pay(lost.address);
  const status = async (): Promise<unknown> => installation.cointill('network', 'status');
  await expect
    .poll(status, { ...SOON, interval: 1_000 })
    .toMatchObject([
      { lost: [{ address: lost.address, amount: 0.01, asset: 'ETH', transaction_hash: expect.any(String) }] },
    ]);
  await expect.poll(() => told().map(({ type }) => type), SOON).toContain('payment.lost');
  expect(told().find(({ type }) => type === 'payment.lost')?.data).toMatchObject({
    address: lost.address,
    amount: 0.01,
  });
  places.set('ADDRESS', lost.address);
  const booked = await installation.follow(line);
  await isCompleted({ id: textAt(booked, 'id') });
  expect(await status()).toMatchObject([{ lost: [] }]);
  const isTold = (): boolean =>
    told().some(({ type, data }) => type === 'order.completed' && JSON.stringify(data).includes('"order_id":"A-17"'));
  await expect.poll(isTold, SOON).toBe(true);
}

describe('when this is lost, the page brings the shop back:', () => {
  it('the disk', async () => {
    const all = await shop();
    const { installation, places, dataDir, backup } = all;
    for (const [example, place] of [
      ['/var/lib/cointill/restored', path.join(home, 'restored')],
      ['/var/backups/cointill', path.dirname(backup)],
      ['FILE', backup],
    ] as const)
      places.set(example, place);
    for (const line of commandsOf('Before')) await installation.follow(line);
    expect(await installation.settings()).toMatchObject({ BACKUP_DIR: path.dirname(backup) });
    await installation.stop('SIGKILL');
    await killServer(dataDir);
    await rm(dataDir, { recursive: true, maxRetries: 5 });
    await rm(`${dataDir}-socket`, { recursive: true, force: true });

    const [book, ...none] = commandsOf('The disk', 'Look for money');
    expect(none).toEqual([]);
    for (const line of commandsOf('The disk', '', '1. **Make')) await installation.follow(line);
    expect(await installation.settings()).toMatchObject({ DATA_DIR: path.join(home, 'restored') });
    await sellsOn(all);
    const [fresh = '', ...others] = commandsOf('The disk', '1. **Make', '2. **Raise');
    expect(others).toEqual([]);
    const made = await installation.follow(fresh);
    expect(made).toMatchObject({ rows: { payments: 2 } });
    await isNotedFor(all);
    await isBooked(all, book ?? '');
  });

  it.runIf(isNight)('a database of one’s own, or its last moments', async () => {
    const [url, empty] = [await emptyDatabase(), await emptyDatabase()];
    const all = await shop({ DATABASE_URL: url });
    const { installation, places, backup } = all;
    places.set('postgres://cointill:PASSWORD@db.example/cointill', empty);
    places.set('FILE', backup);
    await installation.stop('SIGKILL');
    for (const line of commandsOf('The database', '', 'The same file')) await installation.follow(line);
    expect(await installation.settings()).toMatchObject({ DATABASE_URL: empty });
    await sellsOn(all);
    for (const line of commandsOf('The database', '**A failover')) {
      expect(await installation.follow(line)).toMatchObject({ wallets: [{ network: 'ethereum' }] });
    }
    await sellsOn(all);
  });

  it.runIf(isNight)('the key, which a backup has', async () => {
    const all = await shop();
    const { installation, places, dataDir, backup } = all;
    for (const [example, place] of [
      ['/var/lib/cointill/restored', path.join(home, 'restored')],
      ['/var/lib/cointill', dataDir],
      ['/var/backups/cointill', path.dirname(backup)],
      ['FILE', backup],
    ] as const)
      places.set(example, place);
    await installation.stop();
    await rm(path.join(dataDir, 'secret.key'));
    await expect(installation.start()).rejects.toThrow(/encrypted with another key/);
    for (const line of commandsOf('The key', '', 'made with `SECRET_KEY`')) await installation.follow(line);
    expect(await readFile(path.join(path.dirname(backup), 'cointill-restores.jsonl'), 'utf8')).toBe('');
    await sellsOn(all);
  });

  it.runIf(isNight)('the key, which nothing has', async () => {
    const all = await shop();
    const { installation, places, dataDir, endpointId, order, pay, isCompleted, told } = all;
    places.set(' ID ', ` ${endpointId} `);
    await installation.stop();
    await rm(path.join(dataDir, 'secret.key'));
    const secrets: string[] = [];
    const before = receiver.requests.length;
    for (const line of commandsOf('The key', 'made with `SECRET_KEY`')) {
      const answer = await installation.follow(line);
      if (line.includes('rotate')) secrets.push(textAt(answer, 'secret'));
    }
    const next = await order();
    await pay(next.address);
    await isCompleted(next);
    await expect.poll(() => told(secrets, before).map(({ type }) => type), SOON).toContain('order.completed');
  });

  it.runIf(isNight)('the node', async () => {
    const all = await shop();
    const { installation, places, order, pay, isCompleted } = all;
    const open = await order();
    // The same chain at another address stands in for another node of it.
    const other = anvil.url.replace('127.0.0.1', 'localhost');
    places.set('BITCOIN_RPC_URL', 'ETHEREUM_RPC_URL');
    places.set('http://user:password@other:8332', other);
    await installation.stop();
    await installation.set('ETHEREUM_RPC_URL', 'http://127.0.0.1:9');
    await installation.start();
    await pay(open.address);
    for (const line of commandsOf('The node')) await installation.follow(line);
    await isCompleted(open);
    expect(await installation.settings()).toMatchObject({ ETHEREUM_RPC_URL: other });
  });
});
