import http from 'node:http';
import { decodeId } from '../src/domain/id.ts';
import { openDatabase, type DatabaseHandle } from '../src/store/database.ts';
import { lockPayments } from '../src/store/payments.ts';
import { saveChanges } from '../src/store/save-changes.ts';
import { percentile } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService } from './service.ts';

const STREAMS = 200;
const ROUNDS = 20;
/** Each client may have 100 streams open; Linux answers on all of 127.0.0.0/8. */
const STREAMS_PER_ADDRESS = 80;
const TARGET_MS = 300;

/** From the commit that changes 200 payments until each of their 200 open pages was told, for every page. */
export async function livePage(): Promise<readonly Figure[]> {
  const service = await startBenchService();
  const handle = openDatabase(service.database, { maxConnections: 1, onError: () => {} });
  const streams: Stream[] = [];
  try {
    const { headers } = await makeMerchant(service);
    const ids: string[] = [];
    for (let index = 0; index < STREAMS; index += 1) {
      const id = await createOrder(service.test, headers);
      ids.push(decodeId('order', id) ?? '');
      const from = `127.0.0.${2 + Math.floor(index / STREAMS_PER_ADDRESS)}`;
      streams.push(await openStream(`${service.test}/pay/${id}/events`, from));
    }
    const delays: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const told = streams.map((stream) => stream.next());
      const committedAt = await changeAll(handle, ids);
      for (const toldAt of await Promise.all(told)) delays.push(toldAt - committedAt);
    }
    const p95 = percentile(delays, 0.95);
    return [
      {
        name: `${STREAMS} payments changed in one commit → told on ${STREAMS} open event streams`,
        measured: `p50 ${Math.round(percentile(delays, 0.5))} ms, p95 ${Math.round(p95)} ms`,
        target: `p95 ${TARGET_MS} ms`,
        holds: p95 <= TARGET_MS,
      },
    ];
  } finally {
    for (const stream of streams) stream.close();
    await handle.close();
    await service.stop();
  }
}

async function createOrder(url: string, headers: Record<string, string>): Promise<string> {
  const answer = await fetch(`${url}/v1/orders`, { method: 'POST', headers, body: ORDER });
  const { id } = (await answer.json()) as { id: string };
  return id;
}

/** Moves every payment between two statuses, as a chain and its reorganisations would; returns when it was committed. */
async function changeAll({ db }: DatabaseHandle, ids: readonly string[]): Promise<number> {
  let committedAt = 0;
  await db.transaction().execute(async (trx) => {
    const payments = await lockPayments(trx, ids);
    const changes = payments.map((before) => ({
      before,
      after: { ...before, status: before.status === 'pending' ? ('processing' as const) : ('pending' as const) },
      // Nothing is due: the sandbox's timer would change payments too.
      dueAt: null,
      arrows: [],
      events: [],
    }));
    await saveChanges(trx, changes, 2);
    // Before the commit itself, which counts.
    committedAt = performance.now();
  });
  return committedAt;
}

interface Stream {
  /** When the next event arrives. Asked for before it is caused. */
  next(): Promise<number>;
  close(): void;
}

/** Resolves when the page's version has come, which a page that tells none gets at once. */
async function openStream(url: string, localAddress: string): Promise<Stream> {
  let pending = Promise.withResolvers<number>();
  const request = http.get(url, { localAddress, agent: false }, (response) => {
    if (response.statusCode !== 200) request.destroy(new Error(`${url} answered ${response.statusCode}.`));
    let text = '';
    response.setEncoding('utf8').on('data', (part: string) => {
      text += part;
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const isEvent = text.startsWith('event: changed\n');
        text = text.slice(end + 2);
        if (!isEvent) continue;
        pending.resolve(performance.now());
        pending = Promise.withResolvers<number>();
        // A stream that breaks fails the measurement where it waits for an event, and nowhere else.
        pending.promise.catch(() => {});
      }
    });
    response.on('error', (error) => pending.reject(error));
    response.on('end', () => pending.reject(new Error(`${url} ended.`)));
  });
  request.on('error', (error) => pending.reject(error));
  await pending.promise;
  return { next: () => pending.promise, close: () => void request.destroy() };
}
