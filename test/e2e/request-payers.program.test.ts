import { setTimeout as passed } from 'node:timers/promises';
import { parseUnits } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { isNight } from '../extent.ts';
import { eventually } from '../program.ts';
import { liveService, type Fields, type LiveService, type Shop } from './live-evm.fixture.ts';

const PAYERS = isNight ? 100 : 15;
const KILLS = isNight ? 20 : 3;

let anvil: Anvil;
let service: LiveService;
let shop: Shop;
let running: Awaited<ReturnType<LiveService['start']>>;

beforeAll(async () => {
  anvil = await startAnvil();
  const settings = { ETHEREUM_RPC_URL: anvil.url, FIXED_RATES: 'ETH=3000,EUR=1,USDT=1,USDC=1' };
  service = await liveService({ ...settings, SECRET_KEY: 'one-key-for-all-processes-of-a-shop' }, 'processes');
  running = await service.start();
  shop = await service.shop(`--network ethereum --confirmations 1 --xpub ${xpubOf(account(1))}`);
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

/** A call that a killed service did not answer is made again, as people do. */
async function again<Answer>(call: () => Promise<Answer>): Promise<Answer> {
  for (;;) {
    try {
      return await call();
    } catch {
      await passed(50);
    }
  }
}

function submit(path: string, fields: Readonly<Record<string, string>> = {}): Promise<Response> {
  return again(async () => {
    const body = new URLSearchParams(fields);
    const answer = await fetch(`${service.url}${path}`, { method: 'POST', body, redirect: 'manual' });
    if (answer.status >= 500) throw new Error(String(answer.status));
    return answer;
  });
}

async function read(path: string): Promise<Fields> {
  const { body } = await again(async () => {
    const answer = await shop.call(path);
    if (answer.status !== 200) throw new Error(String(answer.status));
    return answer;
  });
  return body;
}

let sending: Promise<unknown> = Promise.resolve();

/** Pays a request as people do: its page, its invoice's page, their wallet. Every third pays too little. */
async function pays(requestId: string, payer: number): Promise<'paid' | 'not asked'> {
  const answer = await submit(`/request/${requestId}/pay`);
  const invoice = /\/pay\/(inv_\w+)/.exec(answer.headers.get('location') ?? '')?.[1];
  if (invoice === undefined) return 'not asked';
  await submit(`/pay/${invoice}/token`, { asset: 'ETH', network: 'ethereum' });
  const { address, crypto_amount: owed, status } = await read(`/v1/invoices/${invoice}`);
  if (status !== 'pending' || typeof address !== 'string') return 'not asked';
  const units = parseUnits(String(owed), 18);
  // They share one account of the node, whose transactions must not overtake each other.
  sending = sending.then(() => anvil.transfer(address, payer % 3 === 0 ? units / 2n : units));
  await sending;
  return 'paid';
}

/** Kills the service while others pay. */
async function killing(): Promise<void> {
  for (let kills = 0; kills < KILLS; kills += 1) {
    await passed(300);
    await running.end('SIGKILL');
    running = await service.start();
  }
}

it(
  `of ${PAYERS} who pay one request at once, while the service is killed, it keeps what the chain has, and completes once`,
  { timeout: 600_000 },
  async () => {
    const asked = { title: 'Cake', amount: 300, currency: 'EUR', coins: ['ETH'] };
    const { body } = await shop.call('/v1/payment_requests', asked);
    const requestId = String(body['id']);
    const paying = Array.from({ length: PAYERS }, async (_, payer) => {
      // They come one after the other, so that each kill meets some of them.
      await passed((payer * KILLS * 1_500) / PAYERS);
      return pays(requestId, payer);
    });
    const [outcomes] = await Promise.all([Promise.all(paying), killing()]);
    expect(outcomes).toContain('paid');
    await anvil.mine(2);
    await service.followed(anvil);
    const request = await eventually('all money is confirmed', async () => {
      const now = await read(`/v1/payment_requests/${requestId}`);
      return now['amount_pending'] === 0 ? now : null;
    });
    const { data } = await read('/v1/invoices?limit=100');
    const invoices = (data as readonly Fields[]).filter((one) => one['payment_request'] === requestId);
    let worthCents = 0n;
    let completedCents = 0;
    for (const { address, amount, crypto_amount: owed, status, amount_received: received } of invoices) {
      if (typeof address !== 'string') continue;
      const held = BigInt(String(await anvil.rpc('eth_getBalance', [address, 'latest'])));
      expect(held).toBe(parseUnits(String(received), 18));
      const [units, cents] = [parseUnits(String(owed), 18), BigInt(Math.round(Number(amount) * 100))];
      worthCents += held === units ? cents : (held * cents) / units;
      if (status === 'completed') completedCents += Number(cents);
    }
    expect(Math.round(Number(request['amount_paid']) * 100)).toBe(Number(worthCents));
    // One amount was asked for: however many paid, its invoices never add up to more.
    expect(completedCents).toBeLessThanOrEqual(30_000);
  },
);
