import { inTurn, load, median, type Load } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, startScript } from './service.ts';

const SECONDS = 3;
/** Many short rounds, because the machine's speed can change between two long ones. */
const ROUNDS = 7;

/** An invoice of the same amount as the order, whose customer chooses the coin. */
const INVOICE = JSON.stringify({ amount: 25, currency: 'USD' });
const SHOP_FIELDS = {
  order_id: 'A-1001',
  customer_email: 'anna@example.com',
  success_url: 'https://shop.example/thanks',
};
/** The same sale by `/v1/invoices`, and as a plugin of BTCPay sends it. */
const SHOP_INVOICE = JSON.stringify({ amount: 25, currency: 'USD', ...SHOP_FIELDS });
const PLUGIN_INVOICE = JSON.stringify({
  amount: '25.00',
  currency: 'USD',
  metadata: { orderId: 'A-1001', buyerEmail: 'anna@example.com' },
  checkout: { redirectURL: 'https://shop.example/thanks', speedPolicy: null, paymentMethods: null },
});

/**
 * `POST /v1/orders`, durable and authenticated, and `GET /v1/orders/{id}`, each against a no-op route of the same
 * shape.
 */
export async function createOrder(): Promise<readonly Figure[]> {
  const noop = await startScript('noop-server.ts');
  // Orders that complete meanwhile would take both sides' time, and make the ratio look better than it is.
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  try {
    const { headers, projectId } = await makeMerchant(service);
    const yardstick = String(noop.hello['url']);
    const created = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
    const order = (await created.json()) as { readonly id: string };
    const get = (base: string) => () => load({ url: `${base}/v1/orders/${order.id}`, headers, seconds: SECONDS });
    await get(service.test)();
    await get(yardstick)();
    const gets = await inTurn(ROUNDS, get(service.test), get(yardstick));
    const post =
      (base: string, path = '/v1/orders', body = ORDER) =>
      () =>
        load({ url: `${base}${path}`, method: 'POST', headers, body, seconds: SECONDS });
    await post(service.test)();
    const posts = await inTurn(ROUNDS, post(service.test), post(yardstick));
    const invoices = await inTurn(ROUNDS, post(service.test, '/v1/invoices', INVOICE), post(service.test));
    const plugins = await inTurn(
      ROUNDS,
      post(service.test, `/api/v1/stores/${projectId}/invoices`, PLUGIN_INVOICE),
      post(service.test, '/v1/invoices', SHOP_INVOICE),
    );
    const failed = [...posts.a, ...gets.a, ...invoices.a, ...plugins.a, ...plugins.b].reduce(
      (sum, one) => sum + one.non2xx,
      0,
    );
    if (failed > 0) throw new Error(`${failed} requests failed.`);
    const rate = (loads: readonly Load[]): number => median(loads.map((one) => one.requestsPerSecond));
    // Each round against the one beside it, so that only what drifts within a few seconds is left in the figure.
    const ratio = (rounds: { readonly a: readonly Load[]; readonly b: readonly Load[] }): number =>
      median(rounds.a.map((one, index) => one.requestsPerSecond / (rounds.b[index]?.requestsPerSecond ?? NaN)));
    const postRatio = ratio(posts);
    const p99 = median(posts.a.map((one) => one.p99Ms));
    const getRatio = ratio(gets);
    const invoiceRatio = ratio(invoices);
    const pluginRatio = ratio(plugins);
    return [
      {
        name: 'POST /v1/orders against a no-op route',
        measured: `${postRatio.toFixed(2)} (${Math.round(rate(posts.a))} of ${Math.round(rate(posts.b))}/s), p99 ${p99} ms`,
        target: '0.35, p99 ≤ 60 ms',
        holds: postRatio >= 0.35 && p99 <= 60,
      },
      {
        name: 'GET /v1/orders/{id} against a no-op route',
        measured: `${getRatio.toFixed(2)} (${Math.round(rate(gets.a))} of ${Math.round(rate(gets.b))}/s)`,
        target: '0.45',
        holds: getRatio >= 0.45,
      },
      {
        name: 'POST /v1/invoices against POST /v1/orders',
        measured: invoiceRatio.toFixed(2),
        target: '0.9',
        holds: invoiceRatio >= 0.9,
      },
      {
        name: "an invoice of BTCPay's plugins against POST /v1/invoices",
        measured: pluginRatio.toFixed(2),
        target: '0.9',
        holds: pluginRatio >= 0.9,
      },
    ];
  } finally {
    await service.stop();
    await noop.stop();
  }
}
