import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { account, xpubOf } from '../../src/app/chains/follow-chain.fixture.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { textOf } from '../../src/http/pages/markup.fixture.ts';
import { startAnvil, type Anvil } from '../anvil.ts';
import { liveService, mined, owedUnits, SOON, type LiveService, type Order, type Shop } from './live-evm.fixture.ts';

let anvil: Anvil;
let service: LiveService;
let shop: Shop;

beforeAll(async () => {
  anvil = await startAnvil();
  service = await liveService({ ETHEREUM_RPC_URL: anvil.url });
  await service.start();
  shop = await service.shop(`--network ethereum --confirmations 2 --xpub ${xpubOf(account(1))}`);
});

afterAll(async () => {
  await service?.close();
  await anvil?.stop();
});

/** Sends a form of the pages as a browser does; gives back where it leads. */
async function send(path: string, fields: Readonly<Record<string, string>> = {}): Promise<string> {
  const form = { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' } as const;
  const answer = await fetch(`${service.url}${path}`, form);
  expect(answer.status).toBe(303);
  return answer.headers.get('location') ?? '';
}

async function sees(path: string, ...texts: readonly string[]): Promise<void> {
  await vi.waitFor(async () => {
    const page = textOf(await (await fetch(`${service.url}${path}`)).text());
    for (const text of texts) expect(page).toContain(text);
  }, SOON);
}

/** Clicks "Pay" and chooses ether. */
async function pay(page: string): Promise<Order> {
  const path = await send(`${page}/pay`);
  await send(`${path}/token`, { asset: 'ETH', network: 'ethereum' });
  const { body } = await shop.call(`/v1/invoices/${path.slice('/pay/'.length)}`);
  return { ...body, id: textAt(body, 'id'), address: textAt(body, 'address') };
}

it('a payer pays a request in parts, with ether: a part stays paid, and the next invoice asks for the rest', async () => {
  const { body: request } = await shop.call('/v1/payment_requests', { title: 'Deposit', amount: 30, currency: 'USD' });
  const page = new URL(textAt(request, 'url')).pathname;
  await sees(page, 'Pay $30.00');

  const first = await pay(page);
  await mined(anvil, anvil.transfer(first.address, owedUnits(first) / 2n));
  await sees(page, 'A payment is open', 'Being confirmed $15.00', 'Left to pay $15.00');
  await anvil.mine(2);
  await sees(page, 'Paid so far $15.00');
  await service.endTime(first, anvil);
  await sees(`/pay/${first.id}`, 'Back to the request');
  await sees(page, 'Pay $15.00');

  const second = await pay(page);
  expect([second.id === first.id, second['amount']]).toEqual([false, 15]);
  await mined(anvil, anvil.transfer(second.address, owedUnits(second)));
  await sees(page, 'A payment is being confirmed', 'Being confirmed $15.00');
  await anvil.mine(2);
  await sees(page, 'This request is paid', 'Paid so far $30.00');
  const read = async () => (await shop.call(`/v1/payment_requests/${textAt(request, 'id')}`)).body;
  await vi.waitFor(async () => expect(await read()).toMatchObject({ status: 'paid', amount_paid: 30, amount_left: 0 }));
});
