import path from 'node:path';
import { rolldown } from 'rolldown';
import { afterAll, describe, expect, it } from 'vitest';
import { hasNoBrowser } from '../browser.ts';
import { httpTest } from '../http.ts';
import { otherSite, useBrowser } from '../web/fixture.ts';
import { listenOn } from './service.fixture.ts';

describe.skipIf(hasNoBrowser)('a page of a shop', async () => {
  const openTab = useBrowser();
  const http = await httpTest();
  const url = await listenOn(http.server('test'));
  afterAll(() => http.close());
  const entry = path.join(import.meta.dirname, '../../packages/sdk/src/index.ts');
  const bundle = await rolldown({ input: entry, platform: 'browser' });
  const { output } = await bundle.generate({ format: 'iife', name: 'sdk', minify: true });

  /** Runs code in a page of a shop whose project allows the page's origin. */
  async function inPage(keyKind: 'public' | 'secret', code: string) {
    const shop = await http.shop();
    const origin = await otherSite({
      '/': `<!doctype html><link rel="icon" href="data:,"><script>${output[0].code.replaceAll('</', '<\\/')}</script>`,
    });
    await http.changeProject(shop.projectId, { allowOrigins: [origin] });
    const { page, problems } = await openTab();
    await page.goto(origin);
    const given = JSON.stringify({ key: await shop.key({ kind: keyKind }), url });
    const result = await page.evaluate<Readonly<Record<string, unknown>>>(
      `(async () => { const { Cointill } = sdk; const given = ${given}; ${code} })().catch((error) => ({ name: error.name, field: error.field, message: error.message, requestId: error.requestId, cause: String(error.cause) }))`,
    );
    return { result, problems };
  }

  it('creates and reads a payment with a public key, amounts to the last digit', async () => {
    const { result, problems } = await inPage(
      'public',
      `const cointill = new Cointill(given);
       const order = await cointill.orders.create({ amount: '25.50', currency: 'USD', crypto_currency: 'BTC' });
       const { status, amount, crypto_amount_text } = await cointill.orders.get(order.id);
       return { status, amount, isSame: crypto_amount_text === order.crypto_amount_text };`,
    );
    expect(result).toEqual({ status: 'pending', amount: 25.5, isSame: true });
    expect(problems).toEqual([]);
  });

  it('gets a typed error with its request id', async () => {
    const { result } = await inPage(
      'public',
      `return new Cointill(given).orders.create({ amount: 0, currency: 'USD', crypto_currency: 'BTC' });`,
    );
    expect(result).toMatchObject({ name: 'InvalidRequestError', field: 'amount', requestId: expect.any(String) });
  });

  it('refuses a secret key before anything is sent', async () => {
    const { result, problems } = await inPage('secret', `return new Cointill(given);`);
    expect(result).toMatchObject({
      name: 'InvalidRequestError',
      field: 'key',
      message: expect.stringMatching(/public key/),
    });
    expect(problems).toEqual([]);
  });
});
