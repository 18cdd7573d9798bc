import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { HDKey } from '@scure/bip32';
import { expect, vi } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { formatDecimal } from '../../src/domain/money.ts';
import { receive, selfSigned, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import { createTestDatabase } from '../database.ts';
import { startUtxoNode, type UtxoNode, type UtxoNodeKind } from '../litecoind.ts';
import { client, eventOf, eventually, freePort, type Answer, type ReceivedEvent } from '../program.ts';
import { payerOf, type Payer, startGate, type Gate } from './live-utxo-nodes.fixture.ts';
import {
  createClock,
  createService,
  createServiceHere,
  type Clock,
  type Service,
} from './live-utxo-service.fixture.ts';
import { DEADLINE_MS } from '../deadline.ts';

/** The amount owed by an order of 30 USD, at 100 USD a coin, in the smallest units. */
export const OWED = 30_000_000n;
/** 30 USD in whole coins. */
export const OWED_COINS = 0.3;
/** How deep an order's money must be. */
export const CONFIRMATIONS = 3;
/** The timeout and interval of polls. */
export const POLL = { timeout: DEADLINE_MS, interval: 60 };

const NETWORKS = { litecoin: 'LTC', bitcoin: 'BTC' } as const satisfies Record<UtxoNodeKind, string>;
const EVENTS =
  'order.created,order.confirming,order.completed,order.expired,order.failed,order.cancelled,order.exception';

export interface LiveOrder {
  readonly id: string;
  readonly address: string;
}

export interface ShopOptions {
  readonly kind: UtxoNodeKind;
  readonly nodeOptions?: readonly string[];
  /** Where the service finds its nodes; the shop's own node unless said otherwise. */
  readonly urls?: (node: UtxoNode) => Promise<string> | string;
  readonly env?: Readonly<Record<string, string>>;
  /** `process` for tests that kill the service or move its clock; the test's own process unless said otherwise. */
  readonly where?: 'here' | 'process';
}

/** A merchant's shop on a real node and the service, seen from outside alone: HTTP, webhooks, command line. */
export interface UtxoShop extends Payer, Service, Clock {
  readonly node: UtxoNode;
  readonly network: UtxoNodeKind;
  readonly asset: 'BTC' | 'LTC';
  readonly project: string;
  /** The address of the live API. */
  readonly baseUrl: string;
  api(path: string, body?: object): Promise<Answer>;
  /** An order of 30 USD, unless said otherwise. */
  order(changes?: object): Promise<LiveOrder>;
  read(id: string): Promise<Answer['body']>;
  /** Waits until the order, read by its id, has these fields. */
  becomes(id: string, fields: object): Promise<void>;
  /**
   * The types of the events of an order so far, in the order of their numbers; `missing` where a number was left out.
   */
  heard(id: string): readonly string[];
  /** All signed events of an order so far, in the order of their numbers. */
  events(id: string): readonly ReceivedEvent[];
  /** Sets the shop's own wallet for the orders that follow. */
  setWallet(confirmations: number): Promise<void>;
  close(): Promise<void>;
}

/** Starts a node with coins to spend, the service on a database of its own, and a receiver of its webhooks. */
export async function openShop(options: ShopOptions): Promise<UtxoShop> {
  const parts = await startParts(options);
  try {
    return await furnish(options.kind, parts);
  } catch (fault) {
    await parts.close();
    throw fault;
  }
}

/** Opens a shop whose service reaches its node through a gate. */
export async function openGatedShop(options: Omit<ShopOptions, 'urls'>) {
  const gates: Gate[] = [];
  const urls = async (node: UtxoNode): Promise<string> => {
    const gate = await startGate(node);
    gates.push(gate);
    return gate.url;
  };
  const shop = await openShop({ ...options, urls });
  const [gate] = gates;
  if (gate === undefined) throw new Error('the service was started without its node');
  return { shop, gate };
}

/** The clock of a service in the test's own process. */
const STILL: Awaited<ReturnType<typeof createClock>> = {
  advance: () => Promise.reject(new Error('Only the clock of a process of its own can be moved.')),
  now: Date.now,
  nodeOptions: '',
};

async function startParts({ kind, nodeOptions = [], urls, env = {}, where = 'here' }: ShopOptions) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-live-'));
  const tls = selfSigned('localhost');
  const { database, drop } = await createTestDatabase();
  const [node, receiver, clock, port, sandboxPort] = await Promise.all([
    startUtxoNode({ kind, options: nodeOptions }),
    receive((response) => void response.end(), { tls }),
    where === 'process' ? createClock(folder, database.db) : STILL,
    freePort(),
    freePort(),
    writeFile(path.join(folder, 'certificate.pem'), tls.cert),
  ]);
  const setting = kind.toUpperCase();
  const settings = {
    DATA_DIR: folder,
    DATABASE_URL: database.url,
    PORT: String(port),
    SANDBOX_PORT: String(sandboxPort),
    RATE_LIMIT_LIVE: '1000000000',
    [`${setting}_RPC_URL`]: (await urls?.(node)) ?? node.url,
    [`${setting}_CHAIN`]: 'regtest',
    NODE_POLL_MS: '100',
    RATE_SOURCES: 'none',
    FIXED_RATES: `${NETWORKS[kind]}=100`,
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: path.join(folder, 'certificate.pem'),
    ...env,
  };
  const service =
    where === 'here' ? createServiceHere(settings) : createService({ ...settings, NODE_OPTIONS: clock.nodeOptions });
  const close = async (): Promise<void> => {
    await (where === 'here' ? service.stop() : service.kill());
    await Promise.all([node.stop(), receiver.close(), drop()]);
    await rm(folder, { recursive: true });
  };
  return { node, receiver, clock, service, baseUrl: `http://127.0.0.1:${port}`, close };
}

async function furnish(
  kind: UtxoNodeKind,
  { node, receiver, clock, service, baseUrl, close }: Awaited<ReturnType<typeof startParts>>,
): Promise<UtxoShop> {
  // A block's reward can be spent 100 blocks later: enough stay spendable when blocks are taken off.
  const [project] = await Promise.all([
    service.command('project create --name Shop').then((created) => textAt(created, 'id')),
    node.mine(160),
  ]);
  // One for all: the thousands of addresses that come next in a wallet are derived and watched once.
  const wallet = `--network ${kind} --descriptor wpkh(${accountKey()}/0/*)`;
  const setWallet = async (confirmations: number): Promise<void> => {
    await service.command(`wallet set --project ${project} ${wallet} --confirmations ${confirmations}`);
  };
  const [key, endpoint] = await Promise.all([
    service.command(`key create --project ${project} --mode live --kind secret --permission full --name K`),
    service.command(
      `webhook create --project ${project} --mode live --events ${EVENTS} --url https://localhost:${receiver.port}/`,
    ),
    setWallet(CONFIRMATIONS),
    service.start(),
  ]);
  // From the first order on the service would read a young chain from the genesis block, which all of regtest share.
  await eventually('the chain is followed', async () => {
    const ready: unknown = await (await fetch(`${baseUrl}/readyz`)).json();
    return /no worker follows this network|no block has been read/.test(JSON.stringify(ready)) ? null : true;
  });
  const api = client(baseUrl, textAt(key, 'key'));
  return {
    ...payerOf(node),
    ...orders(api, NETWORKS[kind]),
    ...inbox(receiver, textAt(endpoint, 'secret'), () => service.wasKilled()),
    ...service,
    ...clock,
    node,
    network: kind,
    asset: NETWORKS[kind],
    project,
    baseUrl,
    api,
    setWallet,
    close,
  };
}

/** The public key of a fresh account, as regtest writes it. */
export function accountKey(): string {
  const seed = crypto.getRandomValues(new Uint8Array(32));
  return HDKey.fromMasterSeed(seed, { private: 0x04358394, public: 0x043587cf }).derive("m/84'/1'/0'")
    .publicExtendedKey;
}

/** An amount of the smallest units in the API's form. */
export function coins(units: bigint): number {
  return Number(formatDecimal(units, 8));
}

function orders(api: UtxoShop['api'], asset: string): Pick<UtxoShop, 'order' | 'read' | 'becomes'> {
  const read = async (id: string): Promise<Answer['body']> => {
    const { status, body } = await api(`/v1/orders/${id}`);
    expect(status).toBe(200);
    return body;
  };
  return {
    read,
    becomes: (id, fields) => vi.waitFor(async () => expect(await read(id)).toMatchObject(fields), POLL),
    order: async (changes = {}) => {
      const created = await api('/v1/orders', { amount: 30, currency: 'USD', crypto_currency: asset, ...changes });
      expect(created.body).toMatchObject({ status: 'pending' });
      const id = textAt(created.body, 'id');
      return { id, address: textAt(await read(id), 'address') };
    },
  };
}

/** The receiver's requests; every delivery must be signed. */
function inbox(
  { requests }: LocalReceiver,
  secret: string,
  mayRepeat: () => boolean,
): Pick<UtxoShop, 'events' | 'heard'> {
  const read = new Map<string, ReceivedEvent[]>();
  const bodies = new Map<string, string>();
  let count = 0;
  const take = ({ headers, body }: LocalReceiver['requests'][number]): void => {
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
    const event = eventOf({ body });
    const before = bodies.get(event.id);
    if (before !== undefined && !(mayRepeat() && before === body)) throw new Error(`sent twice: ${body}`);
    if (before !== undefined) return;
    bodies.set(event.id, body);
    read.set(event.data.id, [...(read.get(event.data.id) ?? []), event]);
  };
  const events = (id: string): readonly ReceivedEvent[] => {
    for (; count < requests.length; count += 1) requests.slice(count, count + 1).forEach(take);
    return (read.get(id) ?? []).toSorted((a, b) => a.sequence - b.sequence);
  };
  return {
    events,
    heard: (id) => {
      const types = new Map(events(id).map(({ sequence, type }) => [sequence, type]));
      return Array.from({ length: Math.max(0, ...types.keys()) }, (_, index) => types.get(index + 1) ?? 'missing');
    },
  };
}
