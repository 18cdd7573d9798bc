import { createServer, request as httpRequest, type ServerResponse } from 'node:http';
import { afterAll, expect, it } from 'vitest';
import { CointillError } from '../../packages/sdk/src/index.ts';
import { httpTest } from '../http.ts';
import { clientOf, listenOn } from './service.fixture.ts';

/** The number of orders; `scripts/nightly.sh` creates 10,000. */
const CREATIONS = Number(process.env['SDK_CREATIONS'] ?? 300);
const AT_A_TIME = 32;
const TIMEOUT_MS = 2_000;

const http = await httpTest();
const url = await listenOn(http.server('test'));
afterAll(() => http.close());

/** A proxy that passes every request on, and spoils three of ten answers: drops, delays and cuts. */
async function badNetwork() {
  const spoiled = { dropped: 0, delayed: 0, cut: 0 };
  let count = 0;
  const proxy = createServer((incoming, outgoing) => {
    const asked = httpRequest(
      `${url}${incoming.url}`,
      { method: incoming.method, headers: incoming.headers },
      (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () => {
          outgoing.writeHead(answer.statusCode ?? 500, answer.headers);
          pass(outgoing, Buffer.concat(chunks));
        });
      },
    );
    asked.on('error', () => outgoing.destroy());
    incoming.pipe(asked);
  });
  const pass = (outgoing: ServerResponse, body: Buffer): void => {
    count += 1;
    // Always the same share, in an order that calls do not know.
    const fate = (count * 7_919) % 10;
    if (fate === 0) {
      spoiled.dropped += 1;
      outgoing.destroy();
    } else if (fate === 1) {
      spoiled.cut += 1;
      outgoing.write(body.subarray(0, body.length / 2), () => outgoing.destroy());
    } else if (fate === 2) {
      spoiled.delayed += 1;
      // Longer than the client waits.
      setTimeout(() => outgoing.end(body), 2 * TIMEOUT_MS).unref();
    } else outgoing.end(body);
  };
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `http://127.0.0.1:${address.port}`,
    spoiled,
    close: () => {
      proxy.close();
      proxy.closeAllConnections();
    },
  };
}

it(
  `of ${CREATIONS} creations through a network that spoils 30 % of the answers, none happens twice, and none is lost without an error`,
  { timeout: 3_600_000 },
  async () => {
    const network = await badNetwork();
    const shop = await http.shop();
    const cointill = await clientOf(shop, network.url, { timeoutMs: TIMEOUT_MS });
    const known = new Map<string, string>();
    let failed = 0;
    let next = 0;
    const create = async (): Promise<void> => {
      while (next < CREATIONS) {
        const reference = `A-${next}`;
        next += 1;
        const order = { amount: '25.00', currency: 'USD', crypto_currency: 'BTC', order_id: reference };
        let idempotencyKey: string | undefined;
        while (!known.has(reference)) {
          try {
            const options = idempotencyKey === undefined ? {} : { idempotencyKey };
            known.set(reference, (await cointill.orders.create(order, options)).id);
          } catch (error) {
            if (!(error instanceof CointillError) || error.idempotencyKey === undefined) throw error;
            failed += 1;
            ({ idempotencyKey } = error);
          }
        }
      }
    };
    await Promise.all(Array.from({ length: AT_A_TIME }, create));
    network.close();

    const found: [string, string][] = [];
    const direct = await clientOf(shop, url);
    for await (const order of direct.orders.list()) found.push([order.order_id ?? '', order.id]);
    expect(new Map(found)).toEqual(known);
    expect(found).toHaveLength(CREATIONS);
    const { dropped, delayed, cut } = network.spoiled;
    process.stdout.write(
      `${CREATIONS} creations, ${dropped} answers dropped, ${delayed} delayed, ${cut} cut; ${failed} calls failed and were repeated\n`,
    );
    expect(dropped + delayed + cut).toBeGreaterThan(CREATIONS * 0.3);
  },
);
