import net from 'node:net';
import autocannon from 'autocannon';
import { Agent, fetch } from 'undici';
import { makeMerchant, ORDER } from './merchant.ts';
import { percentile } from './load.ts';
import type { Figure } from './report.ts';
import { residentMiB, startBenchService, type BenchService } from './service.ts';

const CONNECTIONS = 100;
const AT_ONCE = 20;
const HELD_MS = 3_000;
const DOCUMENT_SECONDS = 5;
const MAX_GROWTH_MIB = 100;
const MAX_P99_MS = 100;
/** The search is asked for the words that stand in most places. */
const SEARCH = '/docs/search?q=payment+webhook+order+key+c+s+p+r';
const DOCUMENTS = ['/docs', '/docs/api', '/docs/webhooks', SEARCH, '/docs/json', '/docs/yaml', '/openapi.json'];

/**
 * The cost of strangers who request much and read nothing, or request documents all the time: the memory of the
 * process, and the time of an order meanwhile. Limits are switched off. Both figures leave room for a busy machine.
 */
export async function flood(): Promise<readonly Figure[]> {
  // Log lines about slow requests would be a load of their own.
  const service = await startBenchService({ env: { LOG_LEVEL: 'error' } });
  try {
    const merchant = await makeMerchant(service);
    const order = await makeOrder(service, merchant.headers);
    // Memory that any work leaves behind is no effect of an attack.
    for (const path of DOCUMENTS) await (await fetch(`${service.test}${path}`)).arrayBuffer();
    const packets = packetsOf(order, merchant.headers);
    for (const { bytes } of packets) await holdUnread(service, bytes, 4, 100);
    const alone = await orderWhile(service, merchant.headers, () => sleep(3_000));
    console.error(`  An order's p99 without them: ${percentile(alone, 0.99).toFixed(1)} ms`);
    const figures: Figure[] = [];
    const unread: Outcome[] = [];
    for (const { name, bytes, isTrusted } of packets) {
      const attack = () => holdUnread(service, bytes, CONNECTIONS, HELD_MS);
      unread.push({ name, isTrusted, ...(await measure(service, merchant.headers, attack)) });
      // The server finishes running queries although nobody waits for them.
      await sleep(1_000);
    }
    figures.push(...figuresOf(`${CONNECTIONS} connections × ${AT_ONCE} requests, nothing read`, unread));
    const read: Outcome[] = [];
    for (const path of DOCUMENTS) {
      read.push({
        name: path,
        isTrusted: false,
        ...(await measure(service, merchant.headers, () => readAllTheTime(service, path))),
      });
    }
    figures.push(...figuresOf('64 connections on a document', read));
    return figures;
  } finally {
    await service.stop();
  }
}

interface Outcome {
  readonly name: string;
  readonly isTrusted: boolean;
  readonly grownMiB: number;
  readonly p99Ms: number;
}

function figuresOf(what: string, outcomes: readonly Outcome[]): readonly Figure[] {
  for (const { name, grownMiB, p99Ms } of outcomes)
    console.error(`  ${name}: ${grownMiB.toFixed(1)} MiB, an order's p99 ${p99Ms.toFixed(1)} ms`);
  const worst = (of: (outcome: Outcome) => number): Outcome =>
    outcomes.reduce((most, one) => (of(one) > of(most) ? one : most));
  // Requests of the merchant's own server have no limit, and slow down that server alone.
  const [large, slow] = [worst((one) => one.grownMiB), worst((one) => (one.isTrusted ? 0 : one.p99Ms))];
  return [
    {
      name: `${what}: growth of the process, at most (${large.name})`,
      measured: `${large.grownMiB.toFixed(0)} MiB`,
      target: `≤ ${MAX_GROWTH_MIB} MiB`,
      holds: large.grownMiB <= MAX_GROWTH_MIB,
    },
    {
      name: `${what}: p99 of an order while strangers do so, at most (${slow.name})`,
      measured: `${slow.p99Ms.toFixed(0)} ms`,
      target: `≤ ${MAX_P99_MS} ms`,
      holds: slow.p99Ms <= MAX_P99_MS,
    },
  ];
}

async function measure(
  service: BenchService,
  headers: Readonly<Record<string, string>>,
  attack: () => Promise<void>,
): Promise<Omit<Outcome, 'name' | 'isTrusted'>> {
  const before = await residentMiB(service.pid);
  let most = before;
  const look = setInterval(() => {
    void residentMiB(service.pid).then((now) => (most = Math.max(most, now)));
  }, 50);
  const tookMs = await orderWhile(service, headers, attack);
  clearInterval(look);
  return { grownMiB: most - before, p99Ms: percentile(tookMs, 0.99) };
}

/** Makes orders one after the other, as one shop does, until the work is done; returns the time of each. */
async function orderWhile(
  service: BenchService,
  headers: Readonly<Record<string, string>>,
  work: () => Promise<void>,
): Promise<readonly number[]> {
  const dispatcher = new Agent({ connections: 1 });
  const tookMs: number[] = [];
  let isDone = false;
  const working = work().finally(() => (isDone = true));
  while (!isDone) {
    const startedAt = performance.now();
    await makeOrder(service, headers, dispatcher);
    tookMs.push(performance.now() - startedAt);
  }
  await working;
  await dispatcher.close();
  return tookMs;
}

async function makeOrder(
  service: BenchService,
  headers: Readonly<Record<string, string>>,
  dispatcher: Agent | null = null,
): Promise<string> {
  const answer = await fetch(`${service.test}/v1/orders`, {
    method: 'POST',
    headers,
    body: ORDER,
    ...(dispatcher === null ? {} : { dispatcher }),
  });
  const body = (await answer.json()) as { readonly id?: string };
  if (body.id === undefined) throw new Error(`An order was answered with ${answer.status}.`);
  return body.id;
}

interface Packet {
  readonly name: string;
  readonly bytes: string;
  /** Whether only the merchant or this machine may send it. */
  readonly isTrusted: boolean;
}

/** A request of every kind, as it goes over the wire. */
function packetsOf(order: string, { authorization = '' }: Readonly<Record<string, string>>): readonly Packet[] {
  const assets = ['/embed.js', '/assets/accent.ffd400.css', `/assets/logo.${'0'.repeat(64)}`];
  const pages = [`/pay/${order}`, '/pay/x', '/refund/x', '/nothing'];
  const anybody = [...DOCUMENTS, '/healthz', '/readyz', ...assets, ...pages, '/v1/orders', '/api/transactions/stats'];
  const merchant = ['/v1/orders?limit=100', `/v1/orders/${order}`, '/v1/refunds', '/api/transactions/stats'];
  const key = `Authorization: ${authorization}`;
  const preflight = ['Origin: https://a.example', 'Access-Control-Request-Method: POST'];
  const bytesOf = (method: string, path: string, headers: readonly string[], body = ''): string => {
    const length = method === 'POST' ? ['Content-Type: application/json', `Content-Length: ${body.length}`] : [];
    return `${[`${method} ${path} HTTP/1.1`, 'Host: localhost', ...headers, ...length].join('\r\n')}\r\n\r\n${body}`;
  };
  const packet = (isTrusted: boolean, method: string, path: string, headers: readonly string[], body = ''): Packet => ({
    name: `${method} ${path.slice(0, 28)}${headers.includes(key) ? ' with a key' : ''}`,
    bytes: bytesOf(method, path, headers, body),
    isTrusted,
  });
  return [
    ...anybody.map((path) => packet(false, 'GET', path, [])),
    packet(false, 'POST', '/v1/orders', [], ORDER),
    packet(false, 'POST', `/pay/${order}/token`, []),
    packet(false, 'OPTIONS', '/v1/orders', preflight),
    packet(true, 'GET', '/metrics', []),
    ...merchant.map((path) => packet(true, 'GET', path, [key])),
    packet(true, 'POST', '/v1/orders', [key], ORDER),
    packet(true, 'POST', '/api/transactions/create', [key], '{"amount":25}'),
  ];
}

/** Sends the same request many times on each of many connections, and reads no answer. */
async function holdUnread(service: BenchService, packet: string, connections: number, heldMs: number): Promise<void> {
  const port = Number(new URL(service.test).port);
  const sockets = Array.from({ length: connections }, () => {
    const socket = net.connect(port, '127.0.0.1');
    socket.on('error', () => {});
    socket.pause();
    socket.write(packet.repeat(AT_ONCE));
    return socket;
  });
  await sleep(heldMs);
  for (const socket of sockets) socket.destroy();
}

/** Runs on a thread of its own, so that its work is not measured as the order's time. */
async function readAllTheTime(service: BenchService, path: string): Promise<void> {
  await autocannon({ url: `${service.test}${path}`, connections: 64, duration: DOCUMENT_SECONDS, workers: 1 });
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
