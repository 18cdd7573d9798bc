import type { Figure } from './report.ts';
import { residentMiB, type BenchService } from './service.ts';

const MIN_ROWS_PER_SECOND = 100_000;
const MAX_FIRST_BYTE_MS = 300;
const MAX_GROWTH_MIB = 30;
const SAMPLE_MS = 50;

/** A request as the dashboard's page sends it. */
export function postOf(url: string, headers: Readonly<Record<string, string>>, body: object): RequestInit {
  return {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      origin: new URL(url).origin,
      'sec-fetch-site': 'same-origin',
    },
    body: JSON.stringify(body),
  };
}

interface MeasuredExport {
  readonly name: string;
  readonly body: object;
  readonly minRowsPerSecond: number;
  /** Null: the rows are sorted first. */
  readonly maxFirstByteMs: number | null;
}

const ALL_PAYMENTS: MeasuredExport = {
  name: 'export',
  body: {},
  minRowsPerSecond: MIN_ROWS_PER_SECOND,
  maxFirstByteMs: MAX_FIRST_BYTE_MS,
};

/** A download as CSV, of all payments with the usual columns by default: its pace, first byte and memory. */
export async function exportFigures(
  service: BenchService,
  url: string,
  headers: Readonly<Record<string, string>>,
  { name, body, minRowsPerSecond, maxFirstByteMs }: MeasuredExport = ALL_PAYMENTS,
): Promise<readonly Figure[]> {
  const request = postOf(url, headers, body);
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
  // Code that the first export loads and compiles is not the export's memory.
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
      name: `${name}: CSV of ${rows} rows`,
      measured: `${pace} rows/s, first byte after ${firstMs.toFixed(0)} ms`,
      target: `${minRowsPerSecond} rows/s${maxFirstByteMs === null ? '' : `, first byte ≤ ${maxFirstByteMs} ms`}`,
      holds: pace >= minRowsPerSecond && firstMs <= (maxFirstByteMs ?? Infinity),
    },
    {
      name: `${name}: memory while ${rows} rows are sent`,
      measured: `${growth.toFixed(0)} MiB more`,
      target: `${MAX_GROWTH_MIB} MiB`,
      holds: growth <= MAX_GROWTH_MIB,
    },
  ];
}
