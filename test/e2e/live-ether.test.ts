import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { account, xpubOf } from '../../src/app/follow-chain.fixture.ts';
import { program, textAt, type Program, type Running } from '../../src/cli/program.testing.ts';
import { receive, selfSigned, type LocalReceiver } from '../../src/webhooks/local-receivers.testing.ts';
import { startAnvil } from '../anvil.ts';
import { testDatabase } from '../database.ts';

const OWED_WEI = 10n ** 16n;

async function freePorts(): Promise<readonly [string, string]> {
  const holders = [createServer(), createServer()];
  await Promise.all(holders.map((holder) => once(holder.listen(0, '127.0.0.1'), 'listening')));
  const [live = '', sandbox = ''] = holders.map((holder) => String(Object(holder.address()).port));
  await Promise.all(holders.map((holder) => once(holder.close(), 'close')));
  return [live, sandbox];
}

/** A shop's receiver, and the file of the certificate that the service is to trust: live webhooks go over https alone. */
async function startShop(): Promise<{ readonly shop: LocalReceiver; readonly trustFile: string }> {
  const tls = selfSigned('localhost');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-shop-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const trustFile = path.join(folder, 'certificate.pem');
  await writeFile(trustFile, tls.cert);
  const shop = await receive((response) => void response.end(), { tls });
  onTestFinished(() => shop.close());
  return { shop, trustFile };
}

async function startService(cointill: Program): Promise<Running> {
  const running = cointill.start('start');
  await running.waitFor(/Cointill is running\./);
  return running;
}

/** What the shop was told of an order, in the order of the events' numbers. */
function told(shop: LocalReceiver, orderId: string): readonly string[] {
  return shop.requests
    .map(({ body }) => JSON.parse(body) as { type: string; sequence: number; data: { id: string } })
    .filter(({ data }) => data.id === orderId)
    .toSorted((a, b) => a.sequence - b.sequence)
    .map(({ type }) => type);
}

it('a live order is paid by a transfer on a real node and completes, also one that was paid while the service was down', async () => {
  const [database, anvil, { shop, trustFile }, [port, sandboxPort]] = await Promise.all([
    testDatabase(),
    startAnvil(),
    startShop(),
    freePorts(),
  ]);
  onTestFinished(() => anvil.stop());
  const cointill = await program({
    DATABASE_URL: database.url,
    PORT: port,
    SANDBOX_PORT: sandboxPort,
    ETHEREUM_RPC_URL: anvil.url,
    ETHEREUM_CHAIN_ID: '31337',
    RATE_SOURCES: 'none',
    FIXED_RATES: 'ETH=3000',
    WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
    NODE_EXTRA_CA_CERTS: trustFile,
  });
  const first = await startService(cointill);
  const project = textAt(await cointill.json('project', 'create', '--name', 'Shop'), 'id');
  const [key, endpoint, wallet] = await Promise.all([
    cointill.json(
      'key',
      'create',
      '--project',
      project,
      ...words('--mode live --kind secret --permission full --name K'),
    ),
    cointill.json(
      'webhook',
      'create',
      '--project',
      project,
      ...words(`--mode live --events all --url https://localhost:${shop.port}/`),
    ),
    cointill.json(
      'wallet',
      'set',
      '--project',
      project,
      ...words(`--network ethereum --confirmations 2 --xpub ${xpubOf(account())}`),
    ),
  ]);
  expect(wallet).toMatchObject({ network: 'ethereum', confirmations: 2, next_index: 0 });

  const headers = { authorization: `Bearer ${textAt(key, 'key')}`, 'content-type': 'application/json' };
  const api = async (path: string, body?: object): Promise<unknown> => {
    const method = body === undefined ? 'GET' : 'POST';
    const init = { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, init);
    expect(answer.status).toBe(200);
    return answer.json();
  };
  const order = async (): Promise<{ readonly id: string; readonly address: string }> => {
    const created = await api('/v1/orders', { amount: 30, currency: 'USD', crypto_currency: 'ETH' });
    expect(created).toMatchObject({ status: 'pending', crypto_amount: 0.01 });
    const id = textAt(created, 'id');
    const read = await api(`/v1/orders/${id}`);
    expect(read).toMatchObject({ network: 'ethereum', amount_received: 0, exception: 'none' });
    return { id, address: textAt(read, 'address') };
  };
  const completes = async (id: string, hash: string): Promise<void> => {
    await expect.poll(() => told(shop, id), { timeout: 10_000 }).toContain('order.completed');
    expect(told(shop, id)).toEqual(['order.created', 'order.confirming', 'order.completed']);
    expect(await api(`/v1/orders/${id}`)).toMatchObject({
      status: 'completed',
      exception: 'none',
      amount_received: 0.01,
      transaction_hash: hash,
    });
  };

  const paid = await order();
  const hash = await anvil.transfer(paid.address, OWED_WEI);
  await expect.poll(() => told(shop, paid.id), { timeout: 10_000 }).toContain('order.confirming');
  expect(await api(`/v1/orders/${paid.id}`)).toMatchObject({ status: 'confirming', transaction_hash: null });
  await anvil.mine(1);
  await completes(paid.id, hash);

  const duringDowntime = await order();
  expect(duringDowntime.address).not.toBe(paid.address);
  first.signal('SIGTERM');
  expect((await first.ended).code).toBe(0);
  const second = await anvil.transfer(duringDowntime.address, OWED_WEI);
  await anvil.mine(3);
  const restarted = await startService(cointill);
  await completes(duringDowntime.id, second);

  const secret = textAt(endpoint, 'secret');
  for (const { body, headers: sent } of shop.requests) {
    expect(sent['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
  }
  restarted.signal('SIGTERM');
  expect((await restarted.ended).code).toBe(0);
});

function words(text: string): readonly string[] {
  return text.split(' ');
}
