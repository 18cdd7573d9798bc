import { createHash } from 'node:crypto';
import { liveFigures } from './dashboard-live.ts';
import { fillRefunds, refundQueries } from './dashboard-refunds.ts';
import { exportFigures } from './export.ts';
import { percentile } from './load.ts';
import { homeSum } from './sums.ts';
import { fillProject } from './fill-project.ts';
import { withOneOrder } from './many-payments.ts';
import type { Figure } from './report.ts';
import type { BenchService } from './service.ts';

const MANY = 1_000_000;
const READS = 200;

const md5 = (text: string): string => createHash('md5').update(text).digest('hex');

/** The latency of the dashboard's list, search and Home with 1,000,000 payments. */
export function dashboard(): Promise<readonly Figure[]> {
  const env = { RATE_LIMIT_DASHBOARD: '1000000000', SANDBOX_COMPLETE_AFTER_SECONDS: '86400' };
  return withOneOrder(env, async ({ service, client, projectId, headers }) => {
    console.error(`Making ${MANY} payments …`);
    await fillProject(client, projectId, MANY);
    await fillRefunds(client, projectId, MANY);
    const signedIn = await signIn(service);
    const api = baseOf(service, projectId);
    const site = api.replace('/dashboard/api/', '/dashboard/');
    return [
      ...(await measure(service, projectId, signedIn)),
      await homeSum(client, api, signedIn),
      ...(await exportFigures(service, `${api}/payments/export`, signedIn)),
      ...(await liveFigures({ service, site, api, cookie: signedIn.cookie, headers })),
    ];
  });
}

export async function signIn(service: BenchService): Promise<{ readonly cookie: string }> {
  const { link } = await service.cli('user', 'invite', '--email', 'owner@shop.example', '--role', 'owner');
  const origin = service.live.replace('127.0.0.1', 'localhost');
  const page = { 'content-type': 'application/json', origin, 'sec-fetch-site': 'same-origin' };
  const answer = await fetch(`${origin}/dashboard/api/links/accept`, {
    method: 'POST',
    headers: page,
    body: JSON.stringify({ token: String(link).split('/').at(-1), password: 'grumpy otter parade' }),
  });
  if (!answer.ok) throw new Error(`Signing in answered ${answer.status}: ${await answer.text()}`);
  const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '');
  return { cookie: cookies.join('; ') };
}

export function baseOf(service: BenchService, projectId: string): string {
  return `${service.live.replace('127.0.0.1', 'localhost')}/dashboard/api/projects/${projectId}/test`;
}

async function measure(
  service: BenchService,
  projectId: string,
  headers: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const base = baseOf(service, projectId);
  const at = (): string => new Date(Date.now() - Math.random() * (MANY / 2) * 31_000).toISOString();
  /** A cursor at a random place of the list. */
  const anywhere = (): string => {
    const time = Math.floor(Date.now() - Math.random() * (MANY / 2) * 31_000);
    const hex = time.toString(16).padStart(12, '0');
    return `after=${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
  };
  const hashOf = (number: number): string => md5(`order${number}`) + md5(`${number}order`);
  const n = (): number => 1 + Math.floor((Math.random() * MANY) / 2);
  const queries: Readonly<Record<string, { readonly limit: number; readonly of: () => string }>> = {
    'first page': { limit: 50, of: () => 'payments' },
    'page at any depth': { limit: 50, of: () => `payments?${anywhere()}` },
    'by a frequent status': { limit: 50, of: () => `payments?status=completed&${anywhere()}` },
    'by a rare status': { limit: 50, of: () => `payments?status=processing&${anywhere()}` },
    'by a status that nothing has': { limit: 50, of: () => `payments?status=cancelled` },
    'by several statuses': { limit: 50, of: () => `payments?status=failed,expired,processing&${anywhere()}` },
    'by an exception': { limit: 50, of: () => `payments?exception=underpaid&${anywhere()}` },
    'by API': { limit: 50, of: () => `payments?api=order&${anywhere()}` },
    'by a rare asset': { limit: 50, of: () => `payments?asset=USDT&${anywhere()}` },
    'by a frequent network': { limit: 50, of: () => `payments?network=bitcoin&${anywhere()}` },
    'by a network that nothing has': { limit: 50, of: () => `payments?network=base` },
    'by date': { limit: 50, of: () => `payments?created_before=${at()}` },
    'by a frequent amount': { limit: 50, of: () => `payments?amount_min=100&amount_max=400&${anywhere()}` },
    'by a rare amount': { limit: 50, of: () => `payments?amount_min=5000&${anywhere()}` },
    'by an amount that few have': { limit: 50, of: () => `payments?amount_min=123.45&amount_max=123.46&${anywhere()}` },
    'by an amount that nothing has': { limit: 50, of: () => 'payments?amount_min=900000' },
    'by a rare currency': { limit: 500, of: () => `payments?currency=CHF&${anywhere()}` },
    'by a frequent label': { limit: 50, of: () => `payments?label=regular&${anywhere()}` },
    'by a rare label': { limit: 50, of: () => `payments?label=vip&${anywhere()}` },
    'by label, amount and status': {
      limit: 500,
      of: () => `payments?label=regular&amount_min=5000&status=failed&${anywhere()}`,
    },
    'by amount and status, both rare': { limit: 500, of: () => 'payments?amount_min=5000&status=processing' },
    'by status and date': { limit: 50, of: () => `payments?status=failed&created_before=${at()}` },
    'by asset and status, both rare': { limit: 500, of: () => 'payments?asset=USDT&status=processing' },
    'by exception and asset': { limit: 500, of: () => 'payments?exception=reorged&asset=USDT' },
    'by a frequent asset and a rare status': { limit: 500, of: () => 'payments?asset=BTC&status=processing' },
    'search by order id': { limit: 50, of: () => `search?text=A-order${n()}` },
    'search by e-mail': { limit: 50, of: () => `search?text=customer${n()}@example.com` },
    'search by number': { limit: 50, of: () => `search?text=TXN-2000-${n()}` },
    'search by the beginning of a description': { limit: 50, of: () => `search?text=order ${n() * 2},` },
    'search by what half of all descriptions begin with': { limit: 50, of: () => 'search?text=subscription of' },
    'search by transaction hash': { limit: 50, of: () => `search?text=${hashOf(n())}` },
    'search by address': { limit: 50, of: () => `search?text=tb1q${md5(`order${n()}`)}` },
    'search by refund': { limit: 50, of: () => 'search?text=re_01jd0000000000000000000000' },
    'search by event': { limit: 50, of: () => 'search?text=evt_01jd0000000000000000000000' },
    'search for what is not there': { limit: 50, of: () => 'search?text=nobody@example.com' },
    'Home, 90 days': { limit: 150, of: () => 'home?period=90d&zone=Europe/Berlin' },
    'Home, 90 days of a zone between the hours': { limit: 150, of: () => 'home?period=90d&zone=Asia/Kathmandu' },
    'Home, a year': { limit: 150, of: () => 'home?period=365d&zone=America/New_York' },
    'Home, today': { limit: 150, of: () => 'home?period=1d&zone=Asia/Tokyo' },
    'what needs attention': { limit: 150, of: () => 'attention' },
    'how much needs attention': { limit: 50, of: () => 'attention/count' },
    ...refundQueries(n),
  };
  const figures: Figure[] = [];
  for (const [name, { limit, of }] of Object.entries(queries)) {
    const latencies: number[] = [];
    for (let index = 0; index < READS + 10; index += 1) {
      const url = `${base}/${of()}`;
      const sentAt = performance.now();
      const answer = await fetch(url, { headers });
      await answer.text();
      if (!answer.ok) throw new Error(`${url} answered ${answer.status}.`);
      if (index >= 10) latencies.push(performance.now() - sentAt);
    }
    const p99 = percentile(latencies, 0.99);
    figures.push({
      name: `dashboard: ${name}, ${MANY} payments`,
      measured: `p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`,
      target: `p99 ≤ ${limit} ms`,
      holds: p99 <= limit,
    });
  }
  return figures;
}
