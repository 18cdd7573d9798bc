import { execFile } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseUnits } from 'viem';
import { textAt } from '../../src/cli/program.fixture.ts';
import { receive, selfSigned } from '../../src/webhooks/local-receivers.fixture.ts';
import { EVENT_TYPES } from '../../src/domain/event-type.ts';
import type { StatementRecord } from '../../src/wire/books.ts';
import { createClock, createService, type Clock, type Service } from '../e2e/live-utxo-service.fixture.ts';
import { freePort } from '../ports.ts';
import { browserAt, eventOf, eventually, isAlive, killProcess, type ReceivedEvent } from '../program.ts';

export type Fields = Readonly<Record<string, unknown>>;
export type Asset = 'ETH' | 'USDT' | 'USDC' | 'BTC';
export const DECIMALS: Readonly<Record<Asset, number>> = { ETH: 18, USDT: 6, USDC: 6, BTC: 8 };

/** An order as the accountant remembers it, and all that was done to it. */
export interface Order {
  readonly id: string;
  readonly address: string;
  readonly asset: Asset;
  readonly owed: bigint;
  isCancelled: boolean;
  /** All that was ever sent to its address, also what a reorganisation took back. */
  sent: bigint;
  readonly story: string[];
}

/** A refund as the accountant remembers it. */
export interface Refund {
  readonly id: string;
  readonly order: Order;
  readonly asset: Asset;
  readonly units: bigint;
  address: string | null;
  isCancelled: boolean;
  /** The transactions that the accountant has paid it by, oldest first. */
  readonly payouts: string[];
  readonly story: string[];
}

/** One webhook that came in. */
export interface Told extends ReceivedEvent {
  readonly body: string;
}

/** The real program, and its merchant: API, webhooks, command line and dashboard. */
export interface Shop {
  readonly project: string;
  readonly service: Service;
  readonly clock: Clock;
  /** A live order; null where the program makes none now. */
  order(asset: Asset, usd: string): Promise<Order | null>;
  cancel(order: Order): Promise<boolean>;
  /** Refunds `usd` of an order, to an address or, null, to one that the customer enters; null if refused. */
  refund(order: Order, usd: string, address: string | null): Promise<Refund | null>;
  /** Whether the page of the refund took the customer's address. */
  claim(refund: Refund, address: string): Promise<boolean>;
  /** Whether it was cancelled. */
  cancelRefund(refund: Refund): Promise<boolean>;
  read(order: Order): Promise<Fields>;
  readOrders(): Promise<ReadonlyMap<string, Fields>>;
  readRefunds(): Promise<ReadonlyMap<string, Fields>>;
  /** The events about an order or refund, by their numbers; throws for a false signature. */
  told(id: string): readonly Told[];
  csv(report: 'payments' | 'transfers' | 'refunds' | 'sweeps'): Promise<readonly Readonly<Record<string, string>>[]>;
  statement(): Promise<StatementRecord>;
  /** A request of the owner's browser; throws for any answer but 200. */
  dashboard(route: string, body?: object): Promise<Fields>;
  /** The address at which shops and customers reach it. */
  readonly url: string;
  readonly key: string;
  /** The last block that the program has taken in; null while it does not say. */
  cursor(): Promise<number | null>;
  close(): Promise<void>;
}

export interface ShopOptions {
  /** The checkout whose program runs. */
  readonly program: string;
  readonly network: 'ethereum' | 'bitcoin';
  /** The arguments after `wallet set --project ID`. */
  readonly wallet: string;
  readonly env: Readonly<Record<string, string>>;
  /** Answers webhooks; with 200 unless said otherwise. */
  readonly answer?: (response: ServerResponse) => void;
  /** Runs the program with these settings; one process unless said otherwise. */
  readonly run?: (settings: Readonly<Record<string, string>>) => Promise<Service>;
}

/** These shops make neither invoices nor requests, whose events an earlier version does not know. */
const EVENTS = EVENT_TYPES.filter((type) => !/^(invoice|payment_request)\./.test(type));

/** Longer than any run: no order runs out by itself. */
const EXPIRES_IN = 86_400;
/** How long a request is made again: a killed process is back by then. */
const PATIENCE_MS = 120_000;
const OWNER = { email: 'owner@shop.example', password: 'grumpy otter parade' };

/** Starts the program of a checkout on an embedded database of its own, and opens a shop on it. */
export async function openShop({ program, network, wallet, env, answer, run }: ShopOptions): Promise<Shop> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-money-'));
  // Root's embedded database runs as another user, who has to get in.
  await chmod(folder, 0o755);
  const tls = selfSigned('localhost');
  await writeFile(path.join(folder, 'certificate.pem'), tls.cert);
  const [receiver, clock, port] = [
    await receive(answer ?? ((response) => void response.end()), { tls }),
    await createClock(folder),
    await freePort(),
  ];
  const url = `http://localhost:${port}`;
  const settings = {
    DATA_DIR: folder,
    PORT: String(port),
    SANDBOX_PORT: String(await freePort()),
    BASE_URL: url,
    CHECKOUT_URL: url,
    DASHBOARD_URL: url,
    RATE_LIMIT_LIVE: '1000000000',
    RATE_LIMIT_PAGE: '1000000000',
    RATE_LIMIT_DASHBOARD: '1000000000',
    NODE_POLL_MS: '100',
    RATE_SOURCES: 'none',
    FIXED_RATES: 'BTC=100,ETH=3000,USDT=1,USDC=1',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: path.join(folder, 'certificate.pem'),
    NODE_OPTIONS: clock.nodeOptions,
    LOG_LEVEL: 'warn',
    ...env,
  };
  const service = run === undefined ? createService(settings, program) : await run(settings);
  await service.start();
  const project = textAt(await service.command('project create --name Shop'), 'id');
  const made = await service.command(
    `key create --project ${project} --mode live --kind secret --permission full --name Server`,
  );
  const hook = `https://localhost:${receiver.port}/`;
  const endpoint = await service.command(
    `webhook create --project ${project} --mode live --events ${EVENTS.join(',')} --url ${hook}`,
  );
  await service.command(`wallet set --project ${project} --network ${network} ${wallet}`);
  const [key, secret] = [textAt(made, 'key'), textAt(endpoint, 'secret')];
  const invited = await service.command(`user invite --email ${OWNER.email} --role owner`);
  const browser = browserAt(url);
  const dashboard = async (route: string, body?: object): Promise<Fields> => {
    const answer = await browser(route, body);
    if (answer.status !== 200) throw new Error(`${route}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  };
  const token = textAt(invited, 'link').split('/').at(-1);
  await dashboard('/links/accept', { token, password: OWNER.password });

  const call = async (route: string, body?: object): Promise<{ readonly status: number; readonly body: Fields }> => {
    const request = {
      method: body === undefined ? 'GET' : 'POST',
      // So that a request whose answer was lost is made again, and not twice.
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    };
    return eventually(
      `${route} is answered`,
      async () => {
        const answer = await fetch(url + route, { ...request, signal: AbortSignal.timeout(15_000) });
        if (answer.status > 500) return null;
        return { status: answer.status, body: Object(JSON.parse(exactly(await answer.text()))) };
      },
      PATIENCE_MS,
    );
  };
  const readAll = async (route: string): Promise<ReadonlyMap<string, Fields>> => {
    const all = new Map<string, Fields>();
    for (let offset = 0; ; offset += 100) {
      const { data } = (await call(`${route}?limit=100&offset=${offset}`)).body;
      if (!Array.isArray(data)) throw new Error(`${route} lists nothing.`);
      for (const one of data) all.set(textAt(one, 'id'), Object(one));
      if (data.length < 100) return all;
    }
  };
  const day = (byMs: number): string => new Date(Date.now() + byMs).toISOString().slice(0, 10);
  const DAY_MS = 86_400_000;
  const report = async (...words: readonly string[]): Promise<string> => {
    const days = ['--project', project, '--from', day(-DAY_MS), '--to', day(DAY_MS)];
    const { PATH = '', HOME = '' } = process.env;
    const { stdout } = await promisify(execFile)(path.join(program, 'bin/cointill'), ['report', ...words, ...days], {
      env: { PATH, HOME, ...settings },
      maxBuffer: 1 << 28,
    });
    return stdout;
  };
  return {
    project,
    url,
    key,
    service,
    clock,
    dashboard: (route, body) => dashboard(`/projects/${project}/live${route}`, body),
    order: async (asset, usd) => {
      const asked = { amount: Number(usd), currency: 'USD', crypto_currency: asset, expires_in: EXPIRES_IN };
      const network = asset === 'BTC' ? {} : { network: 'ethereum' };
      const created = await call('/v1/orders', { ...asked, ...network });
      if (created.status !== 200) return null;
      const { body } = await call(`/v1/orders/${textAt(created.body, 'id')}`);
      const owed = parseUnits(textAt(body, 'crypto_amount'), DECIMALS[asset]);
      const address = asset === 'BTC' ? textAt(body, 'address') : textAt(body, 'address').toLowerCase();
      return { id: textAt(body, 'id'), address, asset, owed, isCancelled: false, sent: 0n, story: [] };
    },
    cancel: async ({ id }) => (await call(`/v1/orders/${id}/cancel`, {})).status === 200,
    refund: async (order, usd, address) => {
      const asked = { order_id: order.id, amount: Number(usd), ...(address === null ? {} : { address }) };
      const { status, body } = await call('/v1/refunds', asked);
      if (status !== 200) return null;
      const units = parseUnits(textAt(body, 'crypto_amount'), DECIMALS[order.asset]);
      return {
        id: textAt(body, 'id'),
        order,
        asset: order.asset,
        units,
        address,
        isCancelled: false,
        payouts: [],
        story: [],
      };
    },
    claim: async ({ id }, address) => {
      const enter = () =>
        fetch(`${url}/refund/${id}`, {
          method: 'POST',
          body: new URLSearchParams({ address }),
          redirect: 'manual',
          signal: AbortSignal.timeout(15_000),
        });
      const { status } = await eventually(
        'the form is answered',
        async () => {
          const answer = await enter();
          return answer.status > 500 ? null : answer;
        },
        PATIENCE_MS,
      );
      return status === 303;
    },
    cancelRefund: async ({ id }) => (await call(`/v1/refunds/${id}/cancel`, {})).status === 200,
    read: async ({ id }) => (await call(`/v1/orders/${id}`)).body,
    readOrders: () => readAll('/v1/orders'),
    readRefunds: () => readAll('/v1/refunds'),
    told: inboxOf(receiver.requests, secret),
    csv: async (of) => parseCsv(await report('export', '--report', of)),
    statement: async () => {
      const statement: StatementRecord = JSON.parse(await report('statement', '--json'));
      return statement;
    },
    cursor: async () => {
      const text = await (await fetch(`${url}/metrics`)).text();
      const sample = new RegExp(`^cointill_network_cursor_height\\{network="${network}"\\} (\\S+)$`, 'm').exec(text);
      return sample === null ? null : Number(sample[1]);
    },
    close: async () => {
      await service.kill();
      const lock = await readFile(path.join(folder, 'postgres/postmaster.pid'), 'utf8').catch(() => '');
      const pid = Number(lock.split('\n')[0]);
      if (pid > 0 && isAlive(pid)) await killProcess(pid);
      await receiver.close();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The amounts of an answer as texts: as numbers they would lose wei. */
function exactly(json: string): string {
  return json.replaceAll(/"(crypto_amount|amount_received)":(-?[\d.]+)/g, '"$1":"$2"');
}

function inboxOf(
  requests: readonly { readonly headers: NodeJS.Dict<string | string[]>; readonly body: string }[],
  secret: string,
): Shop['told'] {
  const events = new Map<string, Map<string, Told>>();
  let count = 0;
  return (id) => {
    for (; count < requests.length; count += 1) {
      const { headers, body } = requests[count] ?? { headers: {}, body: '' };
      if (headers['x-service-signature'] !== createHmac('sha256', secret).update(body).digest('hex'))
        throw new Error(`The signature is false: ${body}`);
      const event = { ...eventOf({ body }), body };
      const known = events.get(event.data.id) ?? new Map<string, Told>();
      if ((known.get(event.id)?.body ?? body) !== body) throw new Error(`Told twice, and differently: ${body}`);
      events.set(event.data.id, known.set(event.id, event));
    }
    return [...(events.get(id)?.values() ?? [])].toSorted((a, b) => a.sequence - b.sequence);
  };
}

/** No field of these shops has a comma, a quote or a line break in it. */
function parseCsv(text: string): readonly Readonly<Record<string, string>>[] {
  if (text.includes('"')) throw new Error('A field of the file is quoted.');
  const [heads = [], ...rows] = text
    .replace('\uFEFF', '')
    .split(/\r?\n/)
    .filter((line) => line !== '')
    .map((line) => line.split(','));
  return rows.map((row) => Object.fromEntries(heads.map((head, at) => [head, row[at] ?? ''])));
}

/** Waits until `look` finds something, but not for ever; null: it did not come. What that means, the books will say. */
export async function patiently<Found>(look: () => Promise<Found | null>, withinMs = 15_000): Promise<Found | null> {
  return eventually('it happens', look, withinMs).catch(() => null);
}
