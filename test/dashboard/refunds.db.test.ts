import type { EventRowView } from '../../src/http/dashboard/event-log/contract.ts';
import * as fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { claimRefund } from '../../src/app/refunds/change-refund.ts';
import { runDueRefunds } from '../../src/app/refunds/end-refunds.ts';
import { RATE_COUNTS_MS } from '../../src/app/refunds/refund-size.ts';
import { numberDue } from '../../src/app/webhooks/number-events.ts';
import { decodeId } from '../../src/domain/id.ts';
import { SANDBOX_REFUND_MS } from '../../src/domain/refund.ts';
import type { PaymentView } from '../../src/http/dashboard/payments/contract.ts';
import { sandboxRail } from '../../src/modes/sandbox-rail.ts';
import { fixedRates } from '../../src/rates/fixed.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import type { Browser } from '../dashboard.ts';
import { actsIn, actsTest } from './acts.fixture.ts';

const { test, app, acts, owner, support } = await actsTest();
const ADDRESS = 'tb1qw508d6qejxtdg4y5r3zarvary0c5xw7kxpjzsx';
const BITCOIN = { asset: 'BTC', network: 'bitcoin' };

let forms = 0;
/** A form of its own each time. */
const form = (fields: object = {}) => ({ request: `form-${(forms += 1)}-x`, ...BITCOIN, ...fields });
const refused = (status: number, text: string, param?: string) => ({
  status,
  body: { error: { message: expect.stringContaining(text), ...(param !== undefined && { param }) } },
});
const satoshi = (text: string | null | undefined): bigint => BigInt(Math.round(Number(text) * 1e8));

/** The transaction to sign for refunds, or the signed one. */
const sign = (browser: Browser, refunds: readonly string[], what = '', more: object = {}) =>
  browser.call<object>({
    method: 'POST',
    path: `/dashboard/api/projects/${app.projectId}/test/signing${what}`,
    body: { refunds, ...more },
  });

/** A refund of another project's payment. */
async function elsewhere() {
  const { projectId } = await test.http.shop();
  const foreignActs = actsIn(test, 'test', projectId);
  const foreign = publicPaymentId(await app.pay({ projectId }));
  await foreignActs.post(owner.browser, foreign, 'complete');
  return {
    foreignActs,
    foreign,
    made: await foreignActs.post(owner.browser, foreign, 'refunds', form({ amount: '5' })),
  };
}

async function paid(outcome = 'paid'): Promise<PaymentView> {
  const id = publicPaymentId(await app.pay());
  const answer = await acts.post(owner.browser, id, 'simulate', { outcome });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.payment;
}

describe('what can be refunded', () => {
  it('is said beforehand: all that is confirmed, its worth, and what came beyond what was owed', async () => {
    const over = await paid('over');
    expect(over.can.refund).toBe('any');
    const [money] = over.refundable;
    expect(money).toMatchObject({ ...BITCOIN, refunded: '0', left: over.money?.confirmed, decimals: 8 });
    expect(satoshi(money?.excess)).toBe(satoshi(over.money?.confirmed) - satoshi(over.money?.expected));
    expect(Number(money?.left_amount)).toBeGreaterThan(100);
    const exact = await paid();
    expect(exact.refundable).toMatchObject([{ left_amount: '100', excess: null, excess_amount: null }]);
    const open = await acts.read(owner.browser, publicPaymentId(await app.pay()));
    expect([open.refundable, open.can.refund]).toEqual([[], 'none']);
    const viewer = await test.join('viewer');
    expect((await acts.read(support.browser, exact.id)).can.refund).toBe('claimed');
    expect((await acts.read(viewer.browser, exact.id)).can.refund).toBe('none');
  });

  it('is what the refund then takes, whatever was refunded before: the sum never exceeds what came', async () => {
    const sizes = fc.oneof(
      fc.constantFrom('all', 'excess'),
      fc.integer({ min: 1, max: 16_000 }).map((cents) => ({ amount: `${Math.floor(cents / 100)}.${cents % 100}` })),
      fc.integer({ min: 1, max: 400_000 }).map((units) => ({ crypto_amount: (units / 1e8).toFixed(8) })),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(sizes, { minLength: 1, maxLength: 5 }), async (wanted) => {
        let view = await paid('over');
        for (const one of wanted) {
          const [money] = view.refundable;
          const size =
            one === 'all'
              ? { crypto_amount: money?.left }
              : one === 'excess'
                ? { crypto_amount: money?.excess ?? money?.left }
                : one;
          const answer = await acts.post(owner.browser, view.id, 'refunds', form({ ...size, address: ADDRESS }));
          const left = satoshi(money?.left);
          const asked = 'crypto_amount' in size ? satoshi(size.crypto_amount) : null;
          const isDone = answer.status === 200;
          // The server tells the worth of an amount in the currency; the sum never exceeds the payment in any case.
          expect(isDone).toBe(asked === null ? isDone : asked > 0n && asked <= left);
          view = isDone ? answer.body.payment : await acts.read(owner.browser, view.id);
          const refund = isDone ? view.refunds.find(({ id }) => id === answer.body.refund) : null;
          const took = satoshi(refund?.crypto_amount ?? '0');
          expect([took, satoshi(view.refundable[0]?.left)]).toEqual([isDone ? (asked ?? took) : 0n, left - took]);
        }
        const given = view.refunds.reduce((sum, { crypto_amount }) => sum + satoshi(crypto_amount), 0n);
        expect(given).toBe(satoshi(view.money?.refunded));
        expect(given <= satoshi(view.money?.confirmed)).toBe(true);
      }),
      { numRuns: 25 },
    );
  });
});

describe('a refund', () => {
  it('is done as the API does it, is in the log with who made it, and completes by itself in test mode', async () => {
    const payment = await paid();
    const fields = { amount: '40.5', address: ` ${ADDRESS} `, reason: '<b>Broken</b>' };
    const answer = await acts.post(owner.browser, payment.id, 'refunds', form(fields));
    expect(answer.body.payment.refunds).toEqual([
      expect.objectContaining({
        id: answer.body.refund,
        status: 'pending',
        amount: '40.5',
        address: ADDRESS,
        reason: '<b>Broken</b>',
        claim_url: null,
        can: { sign: false, cancel: true },
      }),
    ]);
    // Nothing was paid back yet.
    const asked = answer.body.payment.refunds[0]?.crypto_amount;
    expect(answer.body.payment.money).toMatchObject({ refunds_paid: '0', refunds_pending: asked, refunded: asked });
    const { timeline } = answer.body.payment;
    const [refund] = answer.body.payment.refunds;
    expect(timeline.filter((entry) => entry.kind === 'refund')).toMatchObject([
      { what: 'created', by: owner.email, refund: { id: refund?.id } },
    ]);
    expect(timeline.filter((entry) => entry.kind === 'event').map(({ type }) => type)).toContain('refund.created');
    app.clock.advance(SANDBOX_REFUND_MS + 1);
    await runDueRefunds(app, 1_000);
    const after = await acts.read(owner.browser, payment.id);
    expect(after.refunds).toMatchObject([{ status: 'completed', can: { sign: false, cancel: false } }]);
    expect(after.money).toMatchObject({ refunds_paid: asked, refunds_pending: '0', refunded: asked });
    expect(after.timeline.filter((entry) => entry.kind === 'refund')).toMatchObject([
      { what: 'created', at: refund?.created_at },
      { what: 'completed', at: after.refunds[0]?.completed_at, by: null },
    ]);
  });

  it('of everything or of the excess is as large as it was shown', async () => {
    const over = await paid('over');
    const { excess, excess_amount } = over.refundable[0] ?? {};
    const first = await acts.post(owner.browser, over.id, 'refunds', form({ crypto_amount: excess, address: ADDRESS }));
    expect(first.body.payment.refunds).toMatchObject([{ crypto_amount: excess, amount: excess_amount }]);
    expect(first.body.payment.refundable).toMatchObject([{ left: over.money?.expected, excess: null }]);
    const rest = await acts.post(owner.browser, over.id, 'refunds', form({ address: ADDRESS }));
    expect(rest.body.payment.refunds.at(-1)).toMatchObject({ crypto_amount: over.money?.expected });
    expect([rest.body.payment.refundable[0]?.left, rest.body.payment.can.refund]).toEqual(['0', 'none']);
  });

  it('of support goes to the address that the customer gives, and to none that support chose', async () => {
    const payment = await paid();
    const chosen = await acts.post(support.browser, payment.id, 'refunds', form({ address: ADDRESS }));
    expect(chosen).toMatchObject(refused(403, 'create refunds to any address'));
    const requested = await acts.post(support.browser, payment.id, 'refunds', form({ amount: '10' }));
    expect(requested.body.payment.refunds).toMatchObject([
      {
        address: null,
        claim_url: `https://sandbox.pay.example/refund/${requested.body.refund}`,
        can: { sign: false, cancel: true },
      },
    ]);
    // Anybody who has the link can enter an address.
    const viewer = await test.join('viewer');
    expect((await acts.read(viewer.browser, payment.id)).refunds).toMatchObject([{ address: null, claim_url: null }]);
    const signing = await sign(support.browser, [requested.body.refund]);
    expect(signing.status).toBe(403);
    const cancelled = await acts.post(support.browser, payment.id, `refunds/${requested.body.refund}/cancel`);
    expect(cancelled.body.payment).toMatchObject({
      refunds: [{ status: 'failed', failure_reason: 'cancelled' }],
      refundable: [{ left: payment.money?.confirmed }],
    });
    expect(cancelled.body.payment.timeline.filter(({ kind }) => kind === 'action').at(-1)).toMatchObject({
      action: 'refund.cancel',
      by: support.email,
    });
  });

  it('to an address that a colleague chose is cancelled by nobody who may not choose one', async () => {
    const payment = await paid();
    const chosen = await acts.post(owner.browser, payment.id, 'refunds', form({ amount: '5', address: ADDRESS }));
    const open = await acts.post(owner.browser, payment.id, 'refunds', form({ amount: '6' }));
    const id = decodeId('refund', open.body.refund) ?? '';
    expect(await claimRefund(app, id, ADDRESS)).toMatchObject({ kind: 'done' });
    const seen = await acts.read(support.browser, payment.id);
    const base = `/dashboard/api/projects/${app.projectId}/test/refunds`;
    const listed = await support.browser.call<{ data: PaymentView['refunds'] }>({ path: base });
    for (const refunds of [seen.refunds, listed.body.data]) {
      const mayCancel = (wanted: string) => refunds.find((one) => one.id === wanted)?.can.cancel;
      expect([mayCancel(chosen.body.refund), mayCancel(open.body.refund)]).toEqual([false, true]);
    }
    const cancel = (browser: Browser, refund: string) => acts.post(browser, payment.id, `refunds/${refund}/cancel`);
    expect(await cancel(support.browser, chosen.body.refund)).toMatchObject(
      refused(403, 'customer did not enter the address'),
    );
    expect((await acts.read(support.browser, payment.id)).refunds).toMatchObject([
      { status: 'pending' },
      { status: 'pending' },
    ]);
    expect((await cancel(support.browser, open.body.refund)).status).toBe(200);
    expect((await cancel(owner.browser, chosen.body.refund)).status).toBe(200);
  });

  it('has events that show the payment without its amount, which the refund may not have', async () => {
    const payment = await paid();
    await acts.post(owner.browser, payment.id, 'refunds', form({ amount: '5' }));
    while (await numberDue(app));
    const path = `/dashboard/api/projects/${app.projectId}/test/event-log?payment=${payment.id}`;
    const events = await owner.browser.call<{ data: readonly EventRowView[] }>({ path });
    const amountOf = (type: string) => events.body.data.find((one) => one.type === type)?.payment_amount;
    expect(amountOf('refund.created')).toBeNull();
    expect(amountOf('order.completed')).toMatchObject({ currency: payment.currency });
  });

  it('to an address that a key gave is cancelled by nobody who may not choose one', async () => {
    const shop = await test.http.shop();
    const everywhere = await test.join('support');
    const itsActs = actsIn(test, 'test', shop.projectId);
    const payment = publicPaymentId(await app.pay({ projectId: shop.projectId }));
    await itsActs.post(owner.browser, payment, 'complete');
    const create = async (fields: object) => {
      const body = { order_id: payment, amount: 5, ...fields };
      return (await shop.call<{ readonly id: string }>({ path: '/v1/refunds', body })).body.id;
    };
    const [given, open, claimed] = [await create({ address: ADDRESS }), await create({}), await create({})];
    await claimRefund(app, decodeId('refund', claimed) ?? '', ADDRESS);
    const { refunds } = await itsActs.read(everywhere.browser, payment);
    const offered = refunds.filter(({ can }) => can.cancel).map(({ id }) => id);
    expect(offered.toSorted()).toEqual([open, claimed].toSorted());
    const cancel = (refund: string) => itsActs.post(everywhere.browser, payment, `refunds/${refund}/cancel`);
    expect(await cancel(given)).toMatchObject(refused(403, 'customer did not enter the address'));
    expect([(await cancel(open)).status, (await cancel(claimed)).status]).toEqual([200, 200]);
  });

  it('of a payment that still waits is refused without the name of a field that the form lacks', async () => {
    const id = publicPaymentId(await app.pay());
    const answer = await owner.browser.call({
      method: 'POST',
      path: `${acts.base}/${id}/refunds`,
      body: form({ address: ADDRESS }),
      headers: { 'accept-language': 'de' },
    });
    expect(answer.status).toBe(400);
    expect(answer.body).not.toMatchObject({ error: { param: 'order_id' } });
    expect(answer.text).toContain('Diese Zahlung ist noch nicht zu Ende.');
  });

  it('whose form is sent twice is made once, and its answer is the first one', async () => {
    const payment = await paid();
    const body = form({ amount: '10', address: ADDRESS });
    const send = () => acts.post(owner.browser, payment.id, 'refunds', body);
    const together = await Promise.all([send(), send()]);
    expect(together.map(({ status }) => status)).toContain(200);
    const again = await send();
    expect(again.body.payment.refunds.map(({ id }) => id)).toEqual([again.body.refund]);
    const other = await acts.post(owner.browser, payment.id, 'refunds', { ...body, amount: '11' });
    expect(other).toMatchObject(refused(409, 'already sent with other values'));
  });

  it('made by two people at once is refused to the second where both would be too much', async () => {
    const payment = await paid();
    const people = [owner, await test.join('admin')];
    const answers = await Promise.all(
      people.map(({ browser }) =>
        acts.post(browser, payment.id, 'refunds', form({ crypto_amount: payment.money?.confirmed, address: ADDRESS })),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(answers.find(({ status }) => status === 400)).toMatchObject(refused(400, 'Nothing is left to refund'));
  });

  it.each([
    ['amount', { amount: '0' }],
    ['amount', { amount: '-5' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: '10.001' }],
    ['amount', { amount: '100.01' }],
    ['crypto_amount', { crypto_amount: '1' }],
    ['crypto_amount', { crypto_amount: '0' }],
    ['crypto_amount', { crypto_amount: '0.000000001' }],
    ['crypto_amount', { amount: '1', crypto_amount: '0.0001' }],
    ['asset', { asset: 'ETH', network: 'ethereum' }],
    ['asset', { asset: 'XXX' }],
    ['network', { network: 'nowhere' }],
    ['address', { address: 'my wallet' }],
    ['address', { address: '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed' }],
    ['request', { request: 'short' }],
    ['reason', { reason: 'x'.repeat(501) }],
  ])('that cannot be is refused with a sentence that names %s: %j', async (param, fields) => {
    const payment = await paid();
    const answer = await acts.post(owner.browser, payment.id, 'refunds', form({ address: ADDRESS, ...fields }));
    expect(answer).toMatchObject(refused(400, '', param));
    expect((await acts.read(owner.browser, payment.id)).refunds).toEqual([]);
  });

  it('that cannot be is refused in the language of the page, with numbers as it writes them', async () => {
    const payment = await paid();
    const tooMuch = await owner.browser.call<{ readonly error: { readonly message: string } }>({
      method: 'POST',
      path: `${acts.base}/${payment.id}/refunds`,
      body: form({ amount: '1234.50', address: ADDRESS }),
      headers: { 'accept-language': 'de' },
    });
    expect(tooMuch.body.error.message).toBe(
      'Der Betrag ist höher als der Betrag, der noch erstattet werden kann: 0,00166667 BTC (100 USD).',
    );
  });

  it('of another payment, project or mode is answered as one that is not there', async () => {
    const { foreignActs, foreign, made } = await elsewhere();
    const [mine, other] = [await paid(), await paid()];
    const own = await acts.post(owner.browser, mine.id, 'refunds', form({ amount: '5' }));
    for (const [id, refund] of [
      [foreign, made.body.refund],
      [mine.id, made.body.refund],
      [other.id, own.body.refund],
      [mine.id, 're_00000000000000000000000000'],
      [mine.id, 'nonsense'],
    ] as const) {
      const answer = await acts.post(owner.browser, id, `refunds/${refund}/cancel`);
      expect([answer.status, answer.text]).toEqual([404, expect.stringContaining('There is no such')]);
    }
    expect((await acts.post(owner.browser, foreign, 'refunds', form())).status).toBe(404);
    const live = actsIn(test, 'live');
    expect((await live.post(owner.browser, mine.id, `refunds/${own.body.refund}/cancel`)).status).toBe(404);
    expect((await foreignActs.read(owner.browser, foreign)).refunds).toMatchObject([{ status: 'pending' }]);
  });

  it('that is to be signed is named once, is one of this project and mode, and of one network with the others', async () => {
    const { made } = await elsewhere();
    const { body } = await acts.post(owner.browser, (await paid()).id, 'refunds', form({ amount: '5' }));
    const signed = 'cHNidP8=';
    for (const what of ['', '/send']) {
      const more = what === '' ? {} : { signed };
      const of = (refunds: readonly string[]) => sign(owner.browser, refunds, what, more);
      for (const id of [made.body.refund, 're_00000000000000000000000000', 'nonsense']) {
        expect(await of([body.refund, id])).toMatchObject(refused(404, 'There is no such refund'));
      }
      expect(await of([body.refund, body.refund])).toMatchObject(refused(400, 'each refund only once', 'refunds'));
      expect((await of([])).status).toBe(400);
      expect((await of(Array.from({ length: 51 }, () => body.refund))).status).toBe(400);
      expect((await of([body.refund])).status).toBe(200);
    }
    const progress = { path: `/dashboard/api/projects/${app.projectId}/test/signing/progress` };
    const query = { ...progress, path: `${progress.path}?refunds=${body.refund}` };
    expect((await owner.browser.call(query)).body).toMatchObject({
      data: [{ refund: body.refund, status: 'pending', state: null }],
    });
    expect((await owner.browser.call({ path: query.path.replace(body.refund, made.body.refund) })).status).toBe(404);
  });

  it('is not sent where what was pasted is too long is too long, before anything is read of it', async () => {
    const { body } = await acts.post(owner.browser, (await paid()).id, 'refunds', form({ amount: '5' }));
    const long = await sign(owner.browser, [body.refund], '/send', { signed: 'A'.repeat(2_050_000) });
    expect(long.body).toMatchObject({ outcome: 'refused', message: expect.stringContaining('longer than 2 million') });
    const longer = await sign(owner.browser, [body.refund], '/send', { signed: 'A'.repeat(5_000_000) });
    expect(longer.status).toBe(400);
    // Other routes still accept only short bodies.
    expect((await sign(owner.browser, [body.refund, 'A'.repeat(70_000)])).status).toBe(400);
  });

  it('in test mode has nothing to sign', async () => {
    const payment = await paid();
    const { body } = await acts.post(owner.browser, payment.id, 'refunds', form({ address: ADDRESS }));
    expect((await sign(owner.browser, [body.refund])).body).toMatchObject({
      refunds: [{ id: body.refund, payment: payment.id, address: ADDRESS, network: 'bitcoin', problem: null }],
      network_name: 'Bitcoin',
      payment_uri: null,
      call: null,
      psbt: null,
      problem: null,
      warnings: [],
    });
    const sent = await sign(owner.browser, [body.refund], '/send', { signed: 'cHNidP8=' });
    expect(sent.body).toMatchObject({ outcome: 'refused', transaction_hash: null });
  });
});

describe('a refund in the payment’s currency at the rate of now', () => {
  interface RateNow {
    readonly crypto_amount: string;
    readonly rate: string;
    readonly at: string;
    readonly until: string;
  }
  const rateOf = (browser: Browser, id: string, query: object = {}) => {
    const given = new URLSearchParams({ ...BITCOIN, amount: '33.33', ...query });
    return browser.call<RateNow>({ path: `${acts.base}/${id}/refunds/rate?${String(given)}` });
  };

  it('is sent as the coins that were shown, which is what is refunded', async () => {
    const payment = await paid();
    const { body: now } = await rateOf(owner.browser, payment.id);
    const time = new Date(app.clock()).toISOString();
    expect(now).toMatchObject({ rate: '60000', crypto_amount: '0.0005555', at: time });
    const { crypto_amount, until: rate_until } = now;
    const body = form({ crypto_amount, rate_until, address: ADDRESS });
    const answer = await acts.post(owner.browser, payment.id, 'refunds', body);
    // Its amount is at the locked rate, as that of every refund.
    expect(answer.body.payment.refunds).toMatchObject([{ crypto_amount: '0.0005555', amount: '33.32' }]);
    // Sent again after its minute, it is answered as it was.
    app.clock.advance(RATE_COUNTS_MS);
    expect((await acts.post(owner.browser, payment.id, 'refunds', body)).body.refund).toBe(answer.body.refund);
  });

  it('is refused when its rate is more than a minute old, and when nobody has a fresh one', async () => {
    const payment = await paid();
    const { body: now } = await rateOf(owner.browser, payment.id);
    app.clock.advance(RATE_COUNTS_MS + 1);
    const body = { crypto_amount: now.crypto_amount, rate_until: now.until, address: ADDRESS };
    const late = await acts.post(owner.browser, payment.id, 'refunds', form(body));
    expect(late).toMatchObject(refused(400, 'more than a minute old', 'crypto_amount'));
    // Nor does a time count that is later than that of any rate.
    const ahead = { ...body, rate_until: new Date(app.clock() + 2 * RATE_COUNTS_MS).toISOString() };
    const never = await acts.post(owner.browser, payment.id, 'refunds', form(ahead));
    expect(never).toMatchObject(refused(400, 'valid until the time in rate_until', 'crypto_amount'));
    const rails = vi.spyOn(app, 'railFor').mockReturnValue(sandboxRail(fixedRates(new Map()), 1));
    const none = await rateOf(owner.browser, payment.id);
    rails.mockRestore();
    expect(none).toMatchObject(refused(503, 'No current price'));
    expect((await acts.read(owner.browser, payment.id)).refunds).toEqual([]);
  });

  it('is refused above what is left, with what is left', async () => {
    const payment = await paid();
    const { body: now } = await rateOf(owner.browser, payment.id, { amount: '100.01' });
    const { crypto_amount, until: rate_until } = now;
    const answer = await acts.post(
      owner.browser,
      payment.id,
      'refunds',
      form({ crypto_amount, rate_until, address: ADDRESS }),
    );
    expect(answer).toMatchObject(refused(400, `can still be refunded: ${payment.refundable[0]?.left} BTC (100 USD)`));
  });

  it.each([
    ['amount', { amount: '0' }],
    ['amount', { amount: '1e3' }],
    ['amount', { amount: '1.001' }],
    ['asset', { asset: 'BTC', network: 'base' }],
    ['unit', { unit: 'cent' }],
  ])('names %s where that cannot be: %j', async (param, query) => {
    const payment = await paid();
    expect(await rateOf(owner.browser, payment.id, query)).toMatchObject(refused(400, '', param));
  });

  it('needs crypto_amount where it says until when its rate counts', async () => {
    const payment = await paid();
    const rate_until = new Date(app.clock()).toISOString();
    const answer = await acts.post(owner.browser, payment.id, 'refunds', form({ amount: '1', rate_until }));
    expect(answer).toMatchObject(refused(400, 'only be given with crypto_amount', 'rate_until'));
  });
});

describe('accepting', () => {
  it('is refused once there is other money than was shown, and takes what is there when it was', async () => {
    const part = await paid('part');
    expect(part.can.accept).toBe(true);
    const shown = { confirmed: part.money?.confirmed, refunded: '0' };
    await acts.post(owner.browser, part.id, 'simulate', { outcome: 'part' });
    const late = await acts.post(owner.browser, part.id, 'accept', { shown });
    expect(late).toMatchObject(refused(409, 'amounts have changed in the meantime'));
    const now = await acts.read(owner.browser, part.id);
    expect(now.status).toBe('pending');
    const again = { confirmed: now.money?.confirmed, refunded: now.money?.refunded };
    const done = await acts.post(owner.browser, part.id, 'accept', { shown: again });
    expect(done.body.payment).toMatchObject({ status: 'completed', exception: 'underpaid' });
  });

  it('is refused after a refund took of the money, unless that was shown', async () => {
    const late = await paid('late');
    const shown = { confirmed: late.money?.confirmed, refunded: '0' };
    await acts.post(owner.browser, late.id, 'refunds', form({ amount: '60', address: ADDRESS }));
    expect(await acts.post(owner.browser, late.id, 'accept', { shown })).toMatchObject(
      refused(409, 'amounts have changed'),
    );
    const now = await acts.read(owner.browser, late.id);
    expect(now.can.accept).toBe(true);
    const answer = await acts.post(owner.browser, late.id, 'accept', {
      shown: { confirmed: now.money?.confirmed, refunded: now.money?.refunded },
    });
    expect(answer.body.payment.status).toBe('completed');
  });

  it.each(['x', '-1', '1e3', '0.123456789'])('names what was shown where it is no amount: %s', async (confirmed) => {
    const part = await paid('part');
    const answer = await acts.post(owner.browser, part.id, 'accept', { shown: { confirmed, refunded: '0' } });
    expect(answer).toMatchObject(refused(400, 'confirmed'));
  });
});
