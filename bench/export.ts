import type { Figure } from './report.ts';
import { residentMiB, type BenchService } from './service.ts';

const MIN_ROWS_PER_SECOND = 100_000;
const MAX_FIRST_BYTE_MS = 300;
const MAX_GROWTH_MIB = 30;
const SAMPLE_MS = 50;

/** The download of all payments as CSV with the usual columns: its pace, its first byte, the memory it takes. */
export async function exportFigures(
  service: BenchService,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const request = {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      origin: new URL(url).origin,
      'sec-fetch-site': 'same-origin',
    },
    body: '{}',
  };
  const run = async (): Promise<{ readonly rows: number; readonly firstMs: number; readonly ms: number }> => {
    const startedAt = performance.now();
    const answer = await fetch(url, request);
    if (!answer.ok || answer.body === null) throw new Error(`${url} answered ${answer.status}.`);
    let firstMs = NaN;
    let rows = -1;
    for await (const piece of answer.body) {
      if (Number.isNaN(firstMs)) firstMs = performance.now() - startedAt;
      for (let at = piece.indexOf(10); at >= 0; at = piece.indexOf(10, at + 1)) rows += 1;
    }
    return { rows, firstMs, ms: performance.now() - startedAt };
  };
  // What is loaded and compiled at the first export is none of its memory.
  await run();
  const before = await residentMiB(service.pid);
  let most = before;
  const sampling = setInterval(() => {
    void residentMiB(service.pid).then((now) => (most = Math.max(most, now)));
  }, SAMPLE_MS);
  const { rows, firstMs, ms } = await run().finally(() => clearInterval(sampling));
  const pace = Math.round((rows / ms) * 1_000);
  const growth = most - before;
  return [
    {
      name: `export: CSV of ${rows} payments`,
      measured: `${pace} rows/s, first byte after ${firstMs.toFixed(0)} ms`,
      target: `${MIN_ROWS_PER_SECOND} rows/s, first byte ≤ ${MAX_FIRST_BYTE_MS} ms`,
      holds: pace >= MIN_ROWS_PER_SECOND && firstMs <= MAX_FIRST_BYTE_MS,
    },
    {
      name: `export: memory while ${rows} payments are sent`,
      measured: `${growth.toFixed(0)} MiB more`,
      target: `${MAX_GROWTH_MIB} MiB`,
      holds: growth <= MAX_GROWTH_MIB,
    },
  ];
}
