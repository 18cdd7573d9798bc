import { inTurn, load, median, type Load } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript, type BenchService } from './service.ts';

const SECONDS = 3;
/** Many short rounds, as where orders are created. */
const ROUNDS = 7;
/** What is measured beside the figure itself: enough to be seen when it changes. */
const SIDE_ROUNDS = 3;
const TARGET = 0.3;
/** Longer than any measurement: the page goes on asking for the payment. */
const DAY_SECONDS = '86400';

/** `GET /pay/{id}` of a test order that waits for its payment, against a no-op route that answers HTML. */
export async function page(): Promise<readonly Figure[]> {
  const noop = await startScript('noop-server.ts');
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: DAY_SECONDS } });
  try {
    const path = await payingPage(service);
    const get = (base: string, headers: Record<string, string> = {}) => {
      return () => load({ url: `${base}${path}`, headers, seconds: SECONDS });
    };
    const yardstick = String(noop.hello['url']);
    await get(service.test)();
    await get(yardstick)();
    const plain = await inTurn(ROUNDS, get(service.test), get(yardstick));
    const brotli = { 'accept-encoding': 'br' };
    const compressed = await inTurn(SIDE_ROUNDS, get(service.test, brotli), get(yardstick, brotli));
    const failed = [...plain.a, ...compressed.a].reduce((sum, one) => sum + one.non2xx, 0);
    if (failed > 0) throw new Error(`${failed} requests failed.`);
    const rate = (loads: readonly Load[]): number => Math.round(median(loads.map((one) => one.requestsPerSecond)));
    const ratio = (rounds: { readonly a: readonly Load[]; readonly b: readonly Load[] }): number =>
      median(rounds.a.map((one, index) => one.requestsPerSecond / (rounds.b[index]?.requestsPerSecond ?? NaN)));
    const measured = ratio(plain);
    return [
      {
        name: 'GET /pay/{id} against a no-op HTML route',
        measured:
          `${measured.toFixed(2)} (${rate(plain.a)} of ${rate(plain.b)}/s, p99 ${median(plain.a.map((one) => one.p99Ms))} ms); ` +
          `compressed with brotli ${ratio(compressed).toFixed(2)} (${rate(compressed.a)} of ${rate(compressed.b)}/s)`,
        target: String(TARGET),
        holds: measured >= TARGET,
      },
    ];
  } finally {
    await service.stop();
    await noop.stop();
  }
}

/** The path of the page of a new order, which asks for its payment until the measurement is over. */
export async function payingPage(service: BenchService): Promise<string> {
  const { headers } = await makeMerchant(service);
  const body = JSON.stringify({ ...JSON.parse(ORDER), expires_in: Number(DAY_SECONDS) });
  const created = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body });
  const { id } = (await created.json()) as { readonly id: string };
  const path = `/pay/${id}`;
  const html = await (await fetch(`${service.test}${path}`)).text();
  if (!html.includes('data-status="pay"')) throw new Error(`${path} does not ask for the payment.`);
  return path;
}
