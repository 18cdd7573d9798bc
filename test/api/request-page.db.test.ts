import { afterAll, describe, expect, it } from 'vitest';
import { closeRequest } from '../../src/app/payment-requests/close-request.ts';
import { settleDueRequests } from '../../src/app/payment-requests/settle-requests.ts';
import { runDue } from '../../src/app/payments/run-due.ts';
import { RIGHT_CLOCK } from '../../src/app/service-clock.ts';
import { simulateOutcome } from '../../src/app/sandbox/simulate-outcome.ts';
import { decodeId } from '../../src/domain/id.ts';
import type { Simulation } from '../../src/domain/simulation.ts';
import { textOf, valuesOf } from '../../src/http/pages/markup.fixture.ts';
import { httpTest, type Answer, type Fields, type Shop } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());

const REQUEST = { title: 'Deposit', amount: 100, currency: 'EUR' };
const TYPED = { ...REQUEST, amount: null, min_amount: 5, max_amount: 1_000, max_payments: null };

async function created(shop: Shop, fields: object = {}): Promise<string> {
  const { status, body } = await shop.call({ path: '/v1/payment_requests', body: { ...REQUEST, ...fields } });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.id;
}

/** A visitor's browser: keeps the cookie, and has an address of its own. */
interface Visitor {
  look(id: string, query?: string): Promise<Answer>;
  pay(
    id: string,
    typed?: Readonly<Record<string, string>>,
    headers?: Readonly<Record<string, string>>,
  ): Promise<Answer>;
}

let visitors = 0;
function visitor(): Visitor {
  visitors += 1;
  const address = `127.0.${1 + (visitors >> 8)}.${visitors & 255}`;
  let cookie = '';
  const keep = (answer: Answer): Answer => {
    const [set] = answer.setCookies;
    if (set !== undefined) cookie = set.split(';')[0] ?? '';
    return answer;
  };
  const headers = () => (cookie === '' ? {} : { cookie });
  return {
    look: async (id, query = '') =>
      keep(await http.call({ path: `/request/${id}${query}`, headers: headers(), address })),
    pay: async (id, typed = {}, more = {}) =>
      keep(
        await http.call({
          method: 'POST',
          path: `/request/${id}/pay`,
          body: new URLSearchParams(typed).toString(),
          headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers(), ...more },
          address,
        }),
      ),
  };
}

/** The invoice to whose page a form led. */
function invoiceIn({ status, headers, text }: Answer): string {
  const id = /^\/pay\/(inv_\w{26})$/.exec(headers['location'] ?? '')?.[1];
  if (status !== 303 || id === undefined) throw new Error(`${status} ${headers['location']} ${text.slice(0, 300)}`);
  return id;
}

async function invoicesOf(shop: Shop): Promise<readonly Fields[]> {
  const { body } = await shop.call<{ readonly data: readonly Fields[] }>({ path: '/v1/invoices?limit=100' });
  return body.data;
}

async function become(invoice: string, simulation: Simulation): Promise<void> {
  const outcome = await simulateOutcome(http.app, { id: decodeId('invoice', invoice) ?? '' }, simulation);
  if (outcome.kind !== 'changed') throw new Error(JSON.stringify(outcome));
  http.clock.advance(1);
  while ((await settleDueRequests(http.app, 100)) > 0);
}

function expectPage(answer: Answer, status: number, ...texts: readonly string[]): void {
  expect([answer.status, answer.headers['content-type']]).toEqual([status, 'text/html; charset=utf-8']);
  expect(answer.headers).toMatchObject({
    'content-security-policy': expect.stringContaining("default-src 'none'; script-src 'self'"),
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'cache-control': 'no-store',
    'x-robots-tag': 'noindex',
  });
  for (const text of texts) expect(textOf(answer.text)).toContain(text);
}

describe('looking at a request', () => {
  it('makes no invoice and sets no cookie, however many look', async () => {
    const shop = await http.shop();
    const id = await created(shop);
    for (let looks = 0; looks < 100; looks += 1) {
      const page = await visitor().look(id);
      expect([page.status, page.setCookies]).toEqual([200, []]);
    }
    expect(await invoicesOf(shop)).toEqual([]);
    expectPage(await visitor().look(id), 200, 'Deposit', '€100.00', 'Test mode');
  });

  it('at any other address finds nothing, and a form’s address leads to its page', async () => {
    const id = await created(await http.shop());
    for (const other of ['req_none', `req_${'0'.repeat(26)}`, id.toUpperCase(), `inv_${id.slice(4)}`]) {
      expectPage(await visitor().look(other), 404, 'Payment request not found');
      expectPage(await visitor().pay(other), 404, 'Payment request not found');
    }
    for (const end of ['/', '/pay']) {
      const { status, headers } = await http.call({ path: `/request/${id}${end}?lang=de&amount=1` });
      expect([status, headers['location']]).toEqual([303, `/request/${id}?lang=de`]);
    }
  });

  it('shows either mode at either address, as payments do', async () => {
    const shop = await http.shop();
    const { body } = await shop.call({ side: 'live', path: '/v1/payment_requests', body: REQUEST });
    for (const side of ['live', 'test'] as const) {
      const page = await http.call({ side, path: `/request/${body.id}` });
      expect([page.status, page.text.includes('Test mode')]).toEqual([200, false]);
    }
  });

  it('speaks the visitor’s language', async () => {
    const id = await created(await http.shop(), TYPED);
    expect((await visitor().look(id, '?lang=ar')).text).toContain('<html lang="ar" dir="rtl">');
    expectPage(await visitor().look(id, '?lang=de'), 200, 'Wie viel möchten Sie zahlen?', 'Mindestens 5,00 €.');
  });

  it('shows texts of any kind as they are, and no markup of theirs', async () => {
    const title = `<b>"'&${'語'.repeat(150)}`;
    const text = `${title}\u202e`;
    const id = await created(await http.shop(), { title, description: text.repeat(5), reference: text });
    const page = await visitor().look(id);
    expectPage(page, 200, title, text);
    expect(page.text).not.toContain('<b>"');
    expect(page.text.length).toBeLessThan(30_000);
  });
});

describe('paying a request', () => {
  it('leads to an invoice, once: whoever comes again goes on with the same one', async () => {
    const shop = await http.shop();
    const id = await created(shop, { ask: { email: true, name: true, note: true } });
    const ann = visitor();
    const typed = { email: 'ann@example.com', name: 'Ann', note: 'Blue ribbon' };
    const first = await ann.pay(id, typed);
    const invoice = invoiceIn(first);
    expect(first.setCookies).toEqual([
      `cointill_invoice=${invoice}; Path=/request/${id}; Max-Age=86400; HttpOnly; SameSite=Lax`,
    ]);
    expect(invoiceIn(await ann.pay(id))).toBe(invoice);
    expect(await invoicesOf(shop)).toMatchObject([
      {
        id: invoice,
        amount: 100,
        customer_email: 'ann@example.com',
        customer_name: 'Ann',
        metadata: { note: 'Blue ribbon' },
      },
    ]);
    const page = await ann.look(id);
    expectPage(page, 200, 'A payment is open');
    expect(valuesOf(page.text, 'a', 'href')).toContain(`/pay/${invoice}`);
    expect(page.text).not.toMatch(/ann@example|Blue ribbon/);
    expect((await http.call({ path: `/pay/${invoice}` })).status).toBe(200);
  });

  it('is one invoice for all visitors where the amount is asked for once', async () => {
    const shop = await http.shop();
    const id = await created(shop);
    const [ann, bob] = [visitor(), visitor()];
    const [first, second] = await Promise.all([ann.pay(id), bob.pay(id)]);
    expect(invoiceIn(second)).toBe(invoiceIn(first));
    expectPage(await visitor().look(id), 200, 'A payment is open');
    expect(await invoicesOf(shop)).toHaveLength(1);
  });

  it('leads all visitors to that invoice, who cannot cancel it there and find no refund to take for themselves', async () => {
    const shop = await http.shop();
    const id = await created(shop);
    const invoice = invoiceIn(await visitor().pay(id));
    const open = await http.call({ path: `/pay/${invoice}` });
    expect(textOf(open.text)).not.toContain('Cancel');
    await http.call({ method: 'POST', path: `/pay/${invoice}/cancel` });
    await become(invoice, 'over');
    const refund = await shop.call({ path: '/v1/refunds', body: { invoice_id: invoice, amount: 5 } });
    expect(refund.status).toBe(200);
    const page = await http.call({ path: `/pay/${invoice}` });
    expectPage(page, 200, 'Payment complete');
    expect(page.text).not.toContain('/refund/');
    // The shop gives the link to the customer it knows.
    expect((await http.call({ path: `/refund/${refund.body.id}` })).status).toBe(200);
  });

  it('is an invoice for each visitor where it can be paid more often', async () => {
    const shop = await http.shop();
    const id = await created(shop, { max_payments: null });
    const [ann, bob] = [visitor(), visitor()];
    const [first, second] = [invoiceIn(await ann.pay(id)), invoiceIn(await bob.pay(id))];
    expect(second).not.toBe(first);
    expect(invoiceIn(await ann.pay(id))).toBe(first);
    expectPage(await ann.look(id), 200, 'Your payment asks for €100.00');
    expectPage(await visitor().look(id), 200, 'Pay €100.00');
    await become(first, 'paid');
    const after = await ann.look(id);
    expectPage(after, 200, 'Pay €100.00', 'See the payment');
    expect(valuesOf(after.text, 'a', 'href')).toContain(`/pay/${first}`);
    expect(invoiceIn(await ann.pay(id))).not.toBe(first);
  });

  it('asks for what is left, until nothing is', async () => {
    const shop = await http.shop();
    const id = await created(shop, { success_url: 'https://shop.example/thanks' });
    const ann = visitor();
    const first = invoiceIn(await ann.pay(id));
    await become(first, 'part');
    http.clock.advance(31 * 60_000);
    await runDue(http.app, 100);
    expectPage(await ann.look(id), 200, 'Paid so far €50.00', 'Left to pay €50.00', 'Pay €50.00');
    const ended = await http.call({ path: `/pay/${first}` });
    expect(valuesOf(ended.text, 'a', 'href')).toContain(`/request/${id}`);
    const second = invoiceIn(await ann.pay(id));
    await become(second, 'confirming');
    expectPage(await visitor().look(id), 200, 'A payment is being confirmed', 'Being confirmed €50.00');
    await become(second, 'paid');
    const paid = await visitor().look(id);
    expectPage(paid, 200, 'This request is paid');
    expect(valuesOf(paid.text, 'a', 'href')).toContain('https://shop.example/thanks');
    const late = await visitor().pay(id);
    expectPage(late, 400, 'This request is paid');
    const done = await http.call({ path: `/pay/${second}` });
    expect(valuesOf(done.text, 'a', 'href')).toEqual(
      expect.arrayContaining([`/request/${id}`, `https://shop.example/thanks?payment_id=${second}`]),
    );
    expect(await invoicesOf(shop)).toHaveLength(2);
  });

  it('keeps the language that the visitor chose', async () => {
    const id = await created(await http.shop());
    const answer = await http.call({ method: 'POST', path: `/request/${id}/pay?lang=de`, address: '127.0.9.1' });
    expect([answer.status, answer.headers['location']]).toEqual([
      303,
      expect.stringMatching(/^\/pay\/inv_\w+\?lang=de$/),
    ]);
  });
});

describe('an amount that is typed', () => {
  it('is taken exactly, within the bounds', async () => {
    const shop = await http.shop();
    const id = await created(shop, TYPED);
    for (const amount of ['5', '1.000,00', '49,90 €']) invoiceIn(await visitor().pay(id, { amount }));
    expect(new Set((await invoicesOf(shop)).map(({ amount }) => amount))).toEqual(new Set([5, 49.9, 1_000]));
  });

  it.each([
    ['4.99', 'At least €5.00.'],
    ['1000.01', 'At most €1,000.00.'],
    ['', 'Enter an amount, such as 49.90.'],
    ['<script>', 'Enter an amount, such as 49.90.'],
  ])('is refused at its field and stays typed: %s', async (amount, problem) => {
    const shop = await http.shop();
    const id = await created(shop, { ...TYPED, ask: { name: true } });
    const page = await visitor().pay(id, { amount, name: 'Ann' });
    expectPage(page, 400, problem);
    expect(valuesOf(page.text, 'input', 'value')).toEqual([amount, 'Ann']);
    expect(page.setCookies).toEqual([]);
    expect(await invoicesOf(shop)).toEqual([]);
  });

  it('comes with texts of 5,000 characters, which are refused at their fields', async () => {
    const id = await created(await http.shop(), { ...TYPED, ask: { email: true, name: true, note: true } });
    const long = '\u202e<b>😀"'.repeat(625);
    const page = await visitor().pay(id, {
      amount: '50',
      email: 'x'.repeat(5_000),
      name: 'y'.repeat(5_000),
      note: long,
    });
    expectPage(
      page,
      400,
      'Enter at most 254 characters.',
      'Enter at most 255 characters.',
      'Enter at most 500 characters.',
    );
    expect(page.text).not.toContain('<b>');
    expectPage(await visitor().pay(id, { note: 'z'.repeat(70_000) }), 400, 'Payment request not found');
  });
});

describe('a request that cannot be paid', () => {
  it('says that it was closed, also to somebody who is about to pay; what was begun can still be paid', async () => {
    const shop = await http.shop();
    const id = await created(shop, { max_payments: null });
    const [ann, bob] = [visitor(), visitor()];
    const invoice = invoiceIn(await ann.pay(id));
    await become(invoice, 'confirming');
    const uuid = decodeId('request', id) ?? '';
    const closed = await closeRequest(http.app, { id: uuid, projectId: shop.projectId, mode: 'test' }, null);
    expect(closed.kind).toBe('done');
    expectPage(await bob.pay(id), 400, 'This request was closed');
    expectPage(await bob.look(id), 200, 'This request was closed');
    await become(invoice, 'paid');
    expectPage(await ann.look(id), 200, 'This request was closed', 'See the payment');
    expect(await invoicesOf(shop)).toHaveLength(1);
  });

  it('says that it has ended at its date, before a worker has noticed', async () => {
    const shop = await http.shop();
    const id = await created(shop, { expires_at: new Date(http.clock() + 60_000).toISOString() });
    http.clock.advance(60_000);
    expectPage(await visitor().look(id), 200, 'This request has ended');
    expectPage(await visitor().pay(id), 400, 'This request has ended');
    expect(await invoicesOf(shop)).toEqual([]);
  });

  it('says when to try again while others are paying all that is left', async () => {
    const shop = await http.shop();
    const id = await created(shop, { max_payments: 2 });
    const [first] = await Promise.all([visitor().pay(id), visitor().pay(id)]);
    const late = visitor();
    expectPage(await late.pay(id), 400, 'Others are paying right now', 'Try again after');
    await become(invoiceIn(first), 'expired');
    expect(invoiceIn(await late.pay(id))).not.toBe(invoiceIn(first));
  });

  it('has at most a hundred invoices that wait, whoever makes them', async () => {
    const shop = await http.shop();
    const id = await created(shop, { max_payments: null });
    const answers = await Promise.all(Array.from({ length: 101 }, () => visitor().pay(id)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(100);
    expectPage(await visitor().look(id), 200, 'Others are paying right now');
  });

  it('says so while there is no price, and keeps what was typed', async () => {
    const shop = await http.shop();
    const id = await created(shop, { ask: { name: true } });
    http.app.judgeClock({ aheadMs: 600_000, isWrong: true, problem: 'wrong', refusal: 'The clock is wrong.' });
    const page = await visitor().pay(id, { name: 'Ann' });
    http.app.judgeClock(RIGHT_CLOCK);
    expectPage(page, 503, 'There is no current price');
    expect(valuesOf(page.text, 'input', 'value')).toEqual(['Ann']);
    expect(await invoicesOf(shop)).toEqual([]);
  });

  it('says that its shop is closed', async () => {
    const shop = await http.shop();
    const id = await created(shop);
    await http.changeProject(shop.projectId, { active: false });
    expectPage(await visitor().look(id), 200, 'This shop is not taking payments');
    expectPage(await visitor().pay(id), 400, 'This shop is not taking payments');
    await http.changeProject(shop.projectId, { active: true });
    expect(await invoicesOf(shop)).toEqual([]);
  });
});

describe('a form', () => {
  it('is taken thirty times in half an hour of one client and request, and no more', async () => {
    const shop = await http.shop();
    const [id, other] = [await created(shop, TYPED), await created(shop, TYPED)];
    const ann = visitor();
    for (let tries = 0; tries < 30; tries += 1) expect((await ann.pay(id, { amount: '1' })).status).toBe(400);
    const stopped = await ann.pay(id, { amount: '50' });
    expectPage(stopped, 429, 'Too many requests');
    expect(Number(stopped.headers['retry-after'])).toBeGreaterThan(0);
    expect(valuesOf(stopped.text, 'a', 'href')).toContain(`/request/${id}`);
    expect((await ann.look(id)).status).toBe(200);
    invoiceIn(await ann.pay(other, { amount: '50' }));
    invoiceIn(await visitor().pay(id, { amount: '50' }));
  });

  it('of another site makes nothing: it leads to the page, where the visitor can decide', async () => {
    const shop = await http.shop();
    const id = await created(shop);
    for (const site of ['cross-site', 'same-site']) {
      const { status, headers } = await visitor().pay(id, {}, { 'sec-fetch-site': site });
      expect([status, headers['location']]).toEqual([303, `/request/${id}`]);
    }
    expect(await invoicesOf(shop)).toEqual([]);
    invoiceIn(await visitor().pay(id, {}, { 'sec-fetch-site': 'same-origin' }));
  });

  it('with the cookie of another request or of nobody makes an invoice of its own', async () => {
    const shop = await http.shop();
    const [id, other] = [await created(shop, { max_payments: null }), await created(shop, { max_payments: null })];
    const invoice = invoiceIn(await visitor().pay(other));
    for (const value of [invoice, `inv_${'0'.repeat(26)}`, 'x', '']) {
      const cookie = `a=b; cointill_invoice=${value}`;
      expect(invoiceIn(await visitor().pay(id, {}, { cookie }))).not.toBe(invoice);
    }
  });
});
