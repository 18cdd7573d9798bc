import { load, median } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import { startBenchService } from './service.ts';
const root = new URL('..', import.meta.url).pathname;
const side = async (env: Record<string, string>) => {
  const service = await startBenchService({ root, env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400', ...env } });
  const { headers } = await makeMerchant(service);
  return {
    service,
    rate: async () => {
      const { requestsPerSecond, non2xx } = await load({
        url: `${service.test}/v1/orders`,
        method: 'POST',
        headers,
        body: ORDER,
        seconds: 3,
      } as never);
      if (non2xx > 0) throw new Error(String(non2xx));
      return requestsPerSecond;
    },
  };
};
const a = await side({ DASHBOARD: 'off' });
const b = await side({});
await a.rate();
await b.rate();
const ratios: number[] = [];
for (let i = 0; i < 12; i++) {
  const order = i % 2 === 0 ? [a, b] : [b, a];
  const got = new Map();
  for (const one of order) got.set(one, await one.rate());
  ratios.push(got.get(b) / got.get(a));
  console.log(Math.round(got.get(a)), Math.round(got.get(b)), ratios.at(-1)?.toFixed(3));
}
console.log('median', median(ratios));
await a.service.stop();
await b.service.stop();
