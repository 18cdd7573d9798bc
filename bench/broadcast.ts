import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { receive, selfSigned } from '../src/webhooks/local-receivers.fixture.ts';
import { startUtxoNode } from '../test/litecoind.ts';
import { testXpub } from './chain-service.ts';
import { median, percentile } from './load.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const PAYMENTS = 20;

/** The time from the node's acceptance of a payment to the shop's webhook. */
export async function broadcast(): Promise<readonly Figure[]> {
  const node = await startUtxoNode();
  await node.fund();
  const certificate = selfSigned('localhost');
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-bench-'));
  const trustFile = path.join(folder, 'cert.pem');
  await writeFile(trustFile, certificate.cert);
  let heard: (id: string) => void = () => {};
  const shop = await receive(
    (response, { body }) => {
      response.end();
      const event = JSON.parse(body) as { type: string; data: { id: string } };
      if (event.type === 'order.confirming') heard(event.data.id);
    },
    { tls: certificate },
  );
  const service = await startBenchService({
    env: {
      LITECOIN_RPC_URL: node.url,
      LITECOIN_CHAIN: 'regtest',
      FIXED_RATES: 'LTC=100',
      RATE_SOURCES: 'none',
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8,::1/128',
      NODE_EXTRA_CA_CERTS: trustFile,
    },
  });
  try {
    const project = String((await service.cli('project', 'create', '--name', 'Bench'))['id']);
    const scope = ['--project', project, '--mode', 'live'];
    const key = String(
      (await service.cli('key', 'create', ...scope, '--kind', 'secret', '--permission', 'full', '--name', 'B'))['key'],
    );
    await service.cli('webhook', 'create', ...scope, '--url', `https://localhost:${shop.port}/`, '--events', 'all');
    await service.cli('wallet', 'set', '--project', project, '--network', 'litecoin', '--xpub', testXpub());
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
    const delays: number[] = [];
    for (let number = 0; number < PAYMENTS; number += 1) {
      const body = JSON.stringify({ amount: 10, currency: 'USD', crypto_currency: 'LTC' });
      const created = (await (await fetch(`${service.live}/v1/orders`, { method: 'POST', headers, body })).json()) as {
        id: string;
      };
      const order = (await (await fetch(`${service.live}/v1/orders/${created.id}`, { headers })).json()) as {
        address: string;
      };
      const arrived = new Promise<void>((resolve) => {
        heard = (id) => {
          if (id === created.id) resolve();
        };
      });
      await node.send(order.address, '0.1');
      const sentAt = performance.now();
      await arrived;
      delays.push(performance.now() - sentAt);
    }
    const p50 = median(delays);
    return [
      {
        name: 'transfer broadcast → webhook received',
        measured: `p50 ${Math.round(p50)} ms, p95 ${Math.round(percentile(delays, 0.95))} ms`,
        target: 'p50 1500 ms',
        holds: p50 <= 1500,
      },
    ];
  } finally {
    await service.stop();
    await shop.close();
    await node.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
