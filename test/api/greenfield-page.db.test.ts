import { afterAll, describe, expect, it } from 'vitest';
import { createdInvoice, greenfield } from '../greenfield/store.ts';
import { httpTest, type Answer } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const call = greenfield(http);
const GERMAN = { 'accept-language': 'de' };

async function invoice(checkout: object): Promise<string> {
  return (await createdInvoice(call, await http.shop(), { checkout })).id;
}

const show = (id: string, query = '', headers: Readonly<Record<string, string>> = {}): Promise<Answer> =>
  http.call({ path: `/pay/${id}${query}`, headers });

const languageOf = ({ text }: Answer): string | undefined => /<html lang="(\w+)"/.exec(text)?.[1];

/** The coins of the page, in its order. */
const coinsOf = ({ text }: Answer): readonly string[] =>
  [...text.matchAll(/name="asset" value="(\w+)" ?\/><input[^>]*name="network" value="(\w+)"/g)].map(
    ([, asset, network]) => `${asset}/${network}`,
  );

async function simulated(id: string, outcome: string): Promise<string> {
  const answer = await http.call({
    method: 'POST',
    path: `/pay/${id}/simulate`,
    body: new URLSearchParams({ outcome }).toString(),
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  });
  expect(answer.status).toBe(303);
  return String(answer.headers['location']).replace(/^[^?]*/, '');
}

describe('the address that plugins make of an invoice’s id', () => {
  it.each(['live', 'test'] as const)('leads to its page at the %s address, with its query', async (side) => {
    const id = await invoice({});
    for (const query of ['', '?lang=de', '?a=%26&b=?&view=modal']) {
      const { status, headers } = await http.call({ side, path: `/i/${id}${query}` });
      expect([query, status, headers['location']]).toEqual([query, 303, `/pay/${id}${query}`]);
    }
  });

  it.each(['nothing', 'inv_0', '%2F%2Fevil.example', '..%2F..%2Fv1', '%0d%0aset-cookie:a=b', '%00'])(
    'leads %s to the page that says that there is no such payment',
    async (id) => {
      const { status, headers } = await http.call({ path: `/i/${id}` });
      const location = String(headers['location']);
      expect([status, location]).toEqual([303, expect.stringMatching(/^\/pay\/[^/]+$/)]);
      expect(headers['set-cookie']).toBeUndefined();
      const page = await http.call({ path: location });
      expect([page.status, page.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    },
  );
});

describe('the language that a shop wants for its invoice', () => {
  it('is that of the page, unless the address names another', async () => {
    const id = await invoice({ defaultLanguage: 'fr-FR' });
    expect(languageOf(await show(id))).toBe('fr');
    expect(languageOf(await show(id, '', GERMAN))).toBe('fr');
    expect(languageOf(await show(id, '?lang=de'))).toBe('de');
    expect(languageOf(await show(id, '?lang=xx', GERMAN))).toBe('fr');
    const german = await show(await invoice({ defaultLanguage: 'de_DE' }), '?lang=en');
    expect([languageOf(german), german.text]).toEqual(['en', expect.stringContaining('/token?lang=en"')]);
  });

  it('is the browser’s where the pages do not have it', async () => {
    expect(languageOf(await show(await invoice({ defaultLanguage: 'tlh-KX' }), '', GERMAN))).toBe('de');
  });

  it('is that of the page of its refund, too', async () => {
    const shop = await http.shop();
    const { id } = await createdInvoice(call, shop, { checkout: { defaultLanguage: 'fr' } });
    await shop.call({ path: `/v1/invoices/${id}/simulate`, body: { outcome: 'over' } });
    const body = { refundVariant: 'OverpaidAmount', payoutMethods: ['BTC-CHAIN'] };
    const refund = await call(shop, { path: `/invoices/${id}/refund`, body });
    expect(refund.status).toBe(200);
    const page = await http.call({ path: new URL(String(refund.body['viewLink'])).pathname });
    expect([page.status, languageOf(page)]).toEqual([200, 'fr']);
  });
});

describe('the payment method that a shop wants first', () => {
  it('comes first, and the others stay in their order', async () => {
    const usual = coinsOf(await show(await invoice({})));
    expect(usual.length).toBeGreaterThan(5);
    const [first, ...others] = coinsOf(await show(await invoice({ defaultPaymentMethod: 'LTC_CHAIN' })));
    expect([first, others]).toEqual(['LTC/litecoin', usual.filter((coin) => coin !== 'LTC/litecoin')]);
    const polygon = coinsOf(await show(await invoice({ defaultPaymentMethod: 'USDT-POLYGON' })));
    expect(polygon[0]).toBe('USDT/polygon');
    expect(polygon.toSorted()).toEqual(usual.toSorted());
  });

  it('is ignored where nobody knows it, or this invoice does not take it', async () => {
    const usual = coinsOf(await show(await invoice({})));
    for (const defaultPaymentMethod of ['BTC-LN', 'XMR-CHAIN', '', 7, null]) {
      expect(coinsOf(await show(await invoice({ defaultPaymentMethod })))).toEqual(usual);
    }
    const restricted = { paymentMethods: ['BTC-CHAIN', 'LTC-CHAIN'], defaultPaymentMethod: 'ETH-CHAIN' };
    expect(coinsOf(await show(await invoice(restricted)))).toEqual(['BTC/bitcoin', 'LTC/litecoin']);
  });
});

describe('the way back to the shop', () => {
  const redirectURL = 'https://shop.example/thanks';

  it.each([
    [true, true],
    [undefined, true],
    [false, false],
  ])('with redirectAutomatically %s is taken by itself: %s', async (redirectAutomatically, isTaken) => {
    const id = await invoice({ redirectURL, redirectAutomatically });
    const page = await show(id, await simulated(id, 'paid'));
    expect(page.text).toContain(`href="${redirectURL}?payment_id=${id}" data-return`);
    expect(page.text.includes('data-returning')).toBe(isTaken);
    expect(page.text.includes('http-equiv="refresh"')).toBe(isTaken);
  });
});

it('nothing of all this was logged as a fault of ours', () => {
  expect(http.logged).toEqual([]);
});
