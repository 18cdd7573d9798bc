import { load, median, type Load } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript, type BenchService } from './service.ts';

const SECONDS = 3;
/** Many short rounds, as for creations of orders. */
const ROUNDS = 7;
const TARGET = 0.3;
/** Longer than any measurement, so that the page keeps asking for the payment. */
const DAY_SECONDS = '86400';

/**
 * `GET /pay/{id}` of a test order that waits for its payment, against a no-op route that answers as much HTML, because
 * sending a page costs more than drawing it. Also against a line of HTML, and compressed, as browsers get it.
 */
export async function page(): Promise<readonly Figure[]> {
  const noop = await startScript('noop-server.ts');
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: DAY_SECONDS } });
  try {
    const { path, length } = await payingPage(service);
    const yardstick = String(noop.hello['url']);
    const get = (url: string, headers: Record<string, string> = {}) => {
      return () => load({ url, headers, seconds: SECONDS });
    };
    const pages = get(`${service.test}${path}`);
    const brotli = get(`${service.test}${path}`, { 'accept-encoding': 'br' });
    await pages();
    await brotli();
    const rounds: Round[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const document = await get(`${yardstick}/document/${length}`)();
      const page = await pages();
      const line = await get(`${yardstick}/pay/line`)();
      rounds.push({ document, page, line, brotli: await brotli() });
    }
    const failed = rounds.reduce((sum, { page, brotli }) => sum + page.non2xx + brotli.non2xx, 0);
    if (failed > 0) throw new Error(`${failed} requests failed.`);
    return [figureOf(length, rounds)];
  } finally {
    await service.stop();
    await noop.stop();
  }
}

type Round = Readonly<Record<'document' | 'page' | 'line' | 'brotli', Load>>;

/** Each round's own ratios, so that only what drifts within a few seconds is left in the figure. */
function figureOf(length: number, rounds: readonly Round[]): Figure {
  const rate = (what: keyof Round): number => Math.round(median(rounds.map((round) => round[what].requestsPerSecond)));
  const ratio = (what: keyof Round, yardstick: keyof Round): number =>
    median(rounds.map((round) => round[what].requestsPerSecond / round[yardstick].requestsPerSecond));
  const p99Ms = median(rounds.map(({ page }) => page.p99Ms));
  const page = ratio('page', 'document');
  return {
    name: `GET /pay/{id} against a no-op route of ${length} characters of HTML`,
    measured:
      `${page.toFixed(2)} (${rate('page')} of ${rate('document')}/s), p99 ${p99Ms} ms; ` +
      `against a line of HTML ${ratio('page', 'line').toFixed(2)} (of ${rate('line')}/s); ` +
      `compressed with brotli ${rate('brotli')}/s`,
    target: String(TARGET),
    holds: page >= TARGET,
  };
}

/** The page of a new order, which asks for its payment until the measurement is over; its length is in characters. */
export async function payingPage(service: BenchService): Promise<{ readonly path: string; readonly length: number }> {
  const { headers } = await makeMerchant(service);
  const body = JSON.stringify({ ...JSON.parse(ORDER), expires_in: Number(DAY_SECONDS) });
  const created = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body });
  const { id } = (await created.json()) as { readonly id: string };
  const path = `/pay/${id}`;
  const html = await (await fetch(`${service.test}${path}`)).text();
  if (!html.includes('data-status="pay"')) throw new Error(`${path} does not ask for the payment.`);
  return { path, length: html.length };
}
