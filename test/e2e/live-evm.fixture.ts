import { createHmac } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { parseUnits } from 'viem';
import { expect, vi } from 'vitest';
import { textAt } from '../../src/cli/program.fixture.ts';
import { EVENT_TYPES } from '../../src/domain/event-type.ts';
import { decodeId } from '../../src/domain/id.ts';
import { receive, selfSigned, type LocalReceiver } from '../../src/webhooks/local-receivers.fixture.ts';
import type { Anvil } from '../anvil.ts';
import type { TestDatabase } from '../database.ts';
import { client, eventOf, eventually, freePort, type ReceivedEvent } from '../program.ts';
import { makePlace, runCommand, startHere, startProgram, type Running } from './started-program.fixture.ts';
import { forwardTo, startNode, type NodeAnswer, type NodeCall } from '../rpc-node.ts';
import { DEADLINE_MS } from '../deadline.ts';

/** How long a step of the chain's follower may take: it polls once a second, and the machine may be busy. */
export const SOON = { timeout: DEADLINE_MS, interval: 60 };

export type Fields = Readonly<Record<string, unknown>>;
export type Order = Fields & { readonly id: string; readonly address: string };

/** The service on a database and ports of its own, with a receiver of its webhooks, for the tests of a whole file. */
export interface LiveService {
  readonly url: string;
  readonly database: TestDatabase;
  /** Starts the service and resolves when it is ready. Several may run on the database. */
  start(env?: Readonly<Record<string, string>>): Promise<Running>;
  /** Stops all that run, does what is to happen meanwhile, and starts one. */
  restart(meanwhile: () => Promise<void>): Promise<Running>;
  /**
   * Runs a command, its words separated by single spaces, and gives back what it prints as JSON; throws when it fails.
   */
  command(line: string): Promise<unknown>;
  /** A new project with a live key and a webhook; each of `wallets` is what follows `wallet set --project ID`. */
  shop(...wallets: readonly string[]): Promise<Shop>;
  /** A sample of `/metrics` for a network; null while there is none. */
  gauge(name: string, network: string): Promise<number | null>;
  /** Resolves when the service has taken in all blocks that a node has now. */
  followed(node: Anvil, network?: string): Promise<void>;
  /** Lets the time of an order or invoice run out: its deadline becomes now, and a later block is mined. */
  endTime(order: Order, node: Anvil, network?: string): Promise<void>;
  close(): Promise<void>;
}

/** A merchant, who sees the API's answers and their webhook's events. */
export interface Shop {
  readonly projectId: string;
  readonly call: ReturnType<typeof client>;
  /** A live order of 30 USD in ether, unless said otherwise, as it is read after its creation. */
  order(fields?: Fields): Promise<Order>;
  read(order: Order): Promise<Fields>;
  /** Waits until an order is read so. */
  becomes(order: Order, expected: Fields): Promise<void>;
  /** `payment show`: with the timeline, the events and the transfers. */
  show(order: Order): Promise<Fields>;
  /** The types of an order's events, in the order of their numbers; each delivery's signature is checked. */
  told(order: Order): readonly string[];
  events(about: (data: Fields) => boolean): readonly ReceivedEvent[];
}

/**
 * Prepares the service; nothing runs before `start`. The service runs in the test's own process, but in processes of
 * its own where a test kills them.
 */
export async function liveService(
  env: Readonly<Record<string, string>>,
  where: 'here' | 'processes' = 'here',
): Promise<LiveService> {
  const place = await makePlace();
  const { database, dataDir, live: url } = place;
  // Live webhooks are sent over HTTPS only.
  const tls = selfSigned('localhost');
  const trustFile = path.join(dataDir, 'certificate.pem');
  await writeFile(trustFile, tls.cert);
  const receiver = await receive((response) => void response.end(), { tls });
  const common = {
    ...place.env,
    NODE_POLL_MS: '100',
    RATE_SOURCES: 'none',
    FIXED_RATES: 'ETH=3000,USDT=1,USDC=1',
    RATE_LIMIT_LIVE: '1000000000',
    RATE_LIMIT_PAGE: '1000000000',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: trustFile,
    ETHEREUM_CHAIN_ID: '31337',
    ...env,
  };
  const started = new Set<Running>();

  const start: LiveService['start'] = async (more = {}) => {
    // Workers on one machine each need a port of their own.
    const monitor = more['ROLE'] === 'worker' ? { MONITOR_PORT: String(await freePort()) } : {};
    const launch = where === 'here' ? startHere : startProgram;
    const running = await launch({ ...common, ...monitor, ...more });
    started.add(running);
    return running;
  };
  const endAll = async (signal: 'SIGTERM' | 'SIGKILL'): Promise<readonly (number | null)[]> => {
    const ended = [...started].map((one) => one.end(signal));
    started.clear();
    return Promise.all(ended);
  };
  const command = (line: string): Promise<unknown> => runCommand(common, line);
  const gauge = async (name: string, network: string): Promise<number | null> => {
    const text = await (await fetch(`${url}/metrics`)).text();
    const sample = new RegExp(`^${name}\\{network="${network}"\\} (\\S+)$`, 'm').exec(text)?.[1];
    return sample === undefined ? null : Number(sample);
  };
  const followed = async (node: Anvil, network = 'ethereum'): Promise<void> => {
    const head = Number(await node.rpc('eth_blockNumber'));
    await eventually(`${network} is followed up to ${head}`, async () =>
      ((await gauge('cointill_network_cursor_height', network)) ?? 0) >= head ? true : null,
    );
  };
  return {
    url,
    database,
    command,
    gauge,
    followed,
    start,
    restart: async (meanwhile) => {
      for (const code of await endAll('SIGTERM')) expect(code).toBe(0);
      await meanwhile();
      return start();
    },
    shop: (...wallets) => openShop(url, command, receiver, wallets),
    endTime: async (order, node, network) => {
      const id = decodeId('order', order.id) ?? decodeId('invoice', order.id) ?? '';
      const set = (column: 'expires_at' | 'due_at', at: Date) =>
        database.db
          .updateTable('payments')
          .set({ [column]: at })
          .where('id', '=', id)
          .execute();
      const end = new Date();
      await set('expires_at', end);
      // Block times are whole seconds: the block's is later all the same.
      await node.rpc('evm_increaseTime', [2]);
      await node.mine(1);
      await followed(node, network);
      await set('due_at', end);
    },
    close: async () => {
      await endAll('SIGKILL');
      await receiver.close();
      await place.remove();
    },
  };
}

async function openShop(
  url: string,
  command: LiveService['command'],
  receiver: LocalReceiver,
  wallets: readonly string[],
): Promise<Shop> {
  const projectId = textAt(await command('project create --name Shop'), 'id');
  const [key, endpoint] = await Promise.all([
    command(`key create --project ${projectId} --mode live --kind secret --permission full --name Server`),
    command(
      `webhook create --project ${projectId} --mode live --events ${EVENT_TYPES.join(',')} --url https://localhost:${receiver.port}/${projectId}`,
    ),
    ...wallets.map((wallet) => command(`wallet set --project ${projectId} ${wallet}`)),
  ]);
  const call = client(url, textAt(key, 'key'));
  const secret = textAt(endpoint, 'secret');

  const read = async ({ id }: { readonly id: string }): Promise<Fields> => {
    const { status, body } = await call(`/v1/orders/${id}`);
    expect(status).toBe(200);
    return body;
  };
  const events: Shop['events'] = (about) => {
    const received = receiver.requests.filter((request) => request.url === `/${projectId}`);
    const distinct = new Map<string, ReceivedEvent>();
    for (const delivery of received) {
      const event = eventOf(delivery);
      if (!about(event.data)) continue;
      expect(delivery.headers['x-service-signature']).toBe(
        createHmac('sha256', secret).update(delivery.body).digest('hex'),
      );
      distinct.set(event.id, event);
    }
    return [...distinct.values()].toSorted((a, b) => a.sequence - b.sequence);
  };
  return {
    projectId,
    call,
    read,
    // `expect.poll` needs to know which test is running, which is unknown here beside concurrent tests.
    becomes: (order, expected) => vi.waitFor(async () => expect(await read(order)).toMatchObject(expected), SOON),
    events,
    order: async (fields = {}) => {
      const created = await call('/v1/orders', { amount: 30, currency: 'USD', crypto_currency: 'ETH', ...fields });
      expect(created).toMatchObject({ status: 200, body: { status: 'pending' } });
      const id = textAt(created.body, 'id');
      const order = await read({ id });
      return { ...order, id, address: textAt(order, 'address') };
    },
    show: async ({ id }) => Object(await command(`payment show ${id}`)),
    told: ({ id }) => events((data) => data['id'] === id).map(({ type }) => type),
  };
}

/** The amount owed by an order, in the smallest units, from its number of `decimals`. */
export function owedUnits(order: Order, decimals = 18): bigint {
  return parseUnits(String(order['crypto_amount']), decimals);
}

/** The hash of a transaction that was sent, once it is in a block. */
export async function mined(node: Anvil, sent: Promise<string>): Promise<string> {
  const hash = await sent;
  await eventually(`${hash} is in a block`, () => node.rpc('eth_getTransactionReceipt', [hash]));
  return hash;
}

/** Sends several transactions into one block. */
export async function inOneBlock<Sent>(node: Anvil, send: () => Promise<Sent>): Promise<Sent> {
  await node.rpc('evm_setAutomine', [false]);
  try {
    return await send();
  } finally {
    await node.mine(1);
    await node.rpc('evm_setAutomine', [true]);
  }
}

/** A node's front door, which the tests close or turn to another node as they like. */
export interface Gate {
  readonly url: string;
  /** Leads to this node from now on. */
  lead(node: Anvil): void;
  /** Answers instead of the node; null: the node answers. */
  intercept(instead: (call: NodeCall) => NodeAnswer | null): void;
  stop(): Promise<void>;
}

export async function startGate(first: Anvil): Promise<Gate> {
  let target = first;
  let instead: (call: NodeCall) => NodeAnswer | null = () => null;
  const node = await startNode((call) => instead(call) ?? forwardTo(target.url, call));
  return {
    ...node,
    lead: (node) => {
      target = node;
    },
    intercept: (answer) => {
      instead = answer;
    },
  };
}
