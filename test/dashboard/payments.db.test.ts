import * as fc from 'fast-check';
import { afterAll, describe, expect, it } from 'vitest';
import { readPaymentDetails } from '../../src/app/dashboard/payment-details.ts';
import { createEndpoint } from '../../src/app/webhooks/webhook-endpoints.ts';
import { SIMULATIONS } from '../../src/domain/simulation.ts';
import type { PaymentRow, PaymentView, TimelineEntry } from '../../src/http/dashboard/payments/contract.ts';
import type { AuditEntryView } from '../../src/http/dashboard/audit/contract.ts';
import { paymentView } from '../../src/http/dashboard/payments/record.ts';
import { publicPaymentId } from '../../src/domain/payment-kind.ts';
import { dashboardTest, type Browser } from '../dashboard.ts';

const test = await dashboardTest();
const { app } = test.http;
afterAll(() => test.http.close());

const owner = await test.join('owner');

interface List {
  readonly data: readonly PaymentRow[];
  readonly next: string | null;
}
interface Changed {
  readonly payment: PaymentView;
  readonly consequences: {
    readonly from: string;
    readonly to: string;
    readonly events: readonly string[];
    readonly deliveries: number;
  };
}

const pathOf = (projectId: string, mode = 'test'): string => `/dashboard/api/projects/${projectId}/${mode}/payments`;

async function get<Body>(browser: Browser, path: string): Promise<Body> {
  const answer = await browser.call<Body>({ path });
  if (answer.status !== 200) throw new Error(`${path} → ${answer.status} ${answer.text}`);
  return answer.body;
}

function act(
  browser: Browser,
  id: string,
  action: string,
  body: object = {},
  projectId = app.projectId,
  mode = 'test',
) {
  return browser.call<Changed>({ method: 'POST', path: `${pathOf(projectId, mode)}/${id}/${action}`, body });
}

function statusesOf(timeline: readonly TimelineEntry[]): readonly string[] {
  return timeline.flatMap((entry) => (entry.kind === 'status' ? [entry.to] : []));
}

describe('the list', () => {
  it('has the payments of both APIs, newest first, on pages up to the last', async () => {
    const { projectId } = await test.http.shop();
    const paid = [];
    for (let n = 0; n < 7; n += 1) {
      const api = n % 2 === 0 ? 'order' : 'transaction';
      paid.push(publicPaymentId(await app.pay({ projectId, api, description: `Number ${n}` })));
      app.clock.advance(1_000);
    }
    const pages: List[] = [];
    for (let next: string | null = ''; next !== null; next = pages.at(-1)?.next ?? null) {
      pages.push(await get(owner.browser, `${pathOf(projectId)}?limit=3${next === '' ? '' : `&after=${next}`}`));
    }
    expect(pages.map(({ data }) => data.length)).toEqual([3, 3, 1]);
    expect(pages.flatMap(({ data }) => data.map(({ id }) => id))).toEqual(paid.toReversed());
    expect(pages[0]?.data[0]).toMatchObject({
      api: 'order',
      mode: 'test',
      status: 'pending',
      exception: 'none',
      amount: '100',
      currency: 'USD',
      crypto: { asset: 'BTC', network: 'bitcoin', received: '0' },
      description: 'Number 6',
    });
    expect(await get(owner.browser, pathOf(projectId, 'live'))).toEqual({ data: [], next: null });
  });

  it('can be filtered, and searched by id, transaction number, order id and e-mail address', async () => {
    const { projectId } = await test.http.shop();
    const customer = { customerEmail: 'Ann@Example.com', merchantOrderId: 'A-17' };
    const one = await app.pay({ projectId, ...customer });
    app.clock.advance(1);
    const two = await app.pay({ projectId, api: 'transaction', token: { asset: 'LTC', network: null } });
    await act(owner.browser, publicPaymentId(one), 'simulate', { outcome: 'part' }, projectId);
    const found = async (query: string): Promise<readonly string[]> =>
      (await get<List>(owner.browser, `${pathOf(projectId)}?${query}`)).data.map(({ id }) => id);
    const [first, second] = [publicPaymentId(one), publicPaymentId(two)];
    const today = new Date(app.clock()).toISOString().slice(0, 10);
    const expected: Readonly<Record<string, readonly string[]>> = {
      'status=pending': [second, first],
      'status=completed,expired': [],
      'exception=underpaid': [first],
      'api=transaction': [second],
      'asset=LTC,ETH': [second],
      'network=bitcoin': [first],
      'asset=LTC&network=bitcoin': [],
      [`created_after=${today}`]: [],
      [`created_before=${today}`]: [],
      [`search=${first.toUpperCase()}`]: [first],
      [`search=${second}`]: [second],
      [`search=${two.transactionNumber?.toLowerCase()}`]: [second],
      'search=A-17': [first],
      'search=%20ann@example.com%20': [first],
      'search=ann@example.com&api=transaction': [],
      'search=nobody': [],
    };
    for (const [query, ids] of Object.entries(expected)) expect([query, await found(query)]).toEqual([query, ids]);
  });

  it.each([
    ['status=paid', 'status'],
    ['exception=late', 'exception'],
    ['asset=XMR', 'asset'],
    ['network=solana', 'network'],
    ['api=both', 'api'],
    ['created_after=yesterday', 'created_after'],
    ['after=1', 'after'],
    ['limit=101', 'limit'],
    [`search=${'x'.repeat(256)}`, 'search'],
    ['search=a%00b', 'search'],
  ])('refuses %s with a sentence that names it', async (query, param) => {
    const answer = await owner.browser.call({ path: `${pathOf(app.projectId)}?${query}` });
    expect(answer).toMatchObject({
      status: 400,
      body: { error: { type: 'invalid_request_error', param, message: expect.stringContaining(param) } },
    });
  });
});

describe('a payment', () => {
  it('shows its money, its whole history and the possible actions', async () => {
    const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;
    const url = 'https://hooks.example/secret-path';
    const wanted = { projectId: app.projectId, mode: 'test', url, events: 'all' } as const;
    const endpoint = await createEndpoint(app, [Buffer.alloc(32, 7)], policyOf, wanted);
    if (endpoint.kind !== 'done') throw new Error(JSON.stringify(endpoint));
    const payment = await app.pay({ metadata: { size: 'XL' }, customerEmail: 'ann@example.com' });
    const id = publicPaymentId(payment);
    app.clock.advance(1_000);
    await act(owner.browser, id, 'simulate', { outcome: 'over' });
    const view = await get<PaymentView>(owner.browser, `${pathOf(app.projectId)}/${id}`);
    expect(view).toMatchObject({
      id,
      status: 'completed',
      exception: 'overpaid',
      metadata: { size: 'XL' },
      payment_url: `https://sandbox.pay.example/pay/${id}`,
      money: {
        asset: 'BTC',
        network: 'bitcoin',
        expected: view.crypto?.owed,
        missing: '0',
        refunded: '0',
        // The locked rate, although the owed amount was rounded up.
        rate: '60000',
        rate_locked_at: view.created_at,
      },
      addresses: [{ address: view.address, is_current: true, wallet_index: null }],
      transfers: [{ state: 'confirmed', amount: view.money?.received }],
      can: { complete: false, cancel: false, accept: false, simulate: ['paid', 'part', 'over', 'late', 'reorged'] },
    });
    const cents = (text: string | undefined): number => Math.round(Number(text) * 1e8);
    expect(cents(view.money?.excess)).toBe(cents(view.money?.received) - cents(view.money?.expected));
    expect(statusesOf(view.timeline)).toEqual(['pending', 'processing', 'confirming', 'completed']);
    expect(view.timeline.map(({ kind }) => kind)).toContain('transfer');
    expect(view.timeline.filter(({ kind }) => kind === 'action')).toEqual([
      {
        kind: 'action',
        at: expect.any(String),
        action: 'payment.simulate',
        by: owner.email,
        by_name: null,
        detail: null,
      },
    ]);
    const events = view.timeline.filter((entry) => entry.kind === 'event');
    expect(events.map(({ type }) => type)).toEqual([
      'order.created',
      'order.confirming',
      'order.completed',
      'order.exception',
    ]);
    expect(events.find(({ type }) => type === 'order.completed')?.deliveries).toMatchObject([
      { url: 'https://hooks.example/secret-path', state: 'waiting', attempts: [] },
    ]);
    const times = view.timeline.map(({ at }) => at);
    expect(times).toEqual(times.toSorted());
    const support = await test.join('support', app.projectId);
    const seen = await get<PaymentView>(support.browser, `${pathOf(app.projectId)}/${id}`);
    expect(JSON.stringify(seen)).not.toContain('secret-path');
  });

  it('is not found in another project or mode or by the id of the other API', async () => {
    const { projectId } = await test.http.shop();
    const mine = await app.pay();
    const foreign = await app.pay({ projectId, api: 'transaction' });
    const viewer = await test.join('support', app.projectId);
    const missing = 'ord_00000000000000000000000000';
    const cells = [
      pathOf(app.projectId) + `/${missing}`,
      pathOf(app.projectId) + `/${publicPaymentId(foreign)}`,
      pathOf(app.projectId) + `/${mine.id}`,
      pathOf(app.projectId, 'live') + `/${publicPaymentId(mine)}`,
      pathOf(app.projectId) + '/nonsense',
    ];
    for (const path of cells) {
      const reads = await viewer.browser.call({ path });
      expect([path, reads.status, reads.text]).toEqual([
        path,
        404,
        '{"error":{"type":"not_found_error","message":"There is no such payment in this project and mode."}}',
      ]);
      for (const action of ['complete', 'cancel', 'accept']) {
        const done = await owner.browser.call({ method: 'POST', path: `${path}/${action}`, body: {} });
        expect([path, action, done.status, done.text]).toEqual([path, action, 404, reads.text]);
      }
    }
    const unseen = await viewer.browser.call({ path: `${pathOf(projectId)}/${publicPaymentId(foreign)}` });
    const absent = await viewer.browser.call({ path: pathOf('00000000-0000-7000-8000-000000000000') });
    expect([unseen.status, unseen.text]).toEqual([404, absent.text]);
  });

  it.each([
    ['the main chain', { payoutChain: 'main', chainId: 1 }, true],
    ['a test chain', { payoutChain: 'regtest', chainId: 11_155_111 }, false],
  ] as const)('on %s links the explorer only where it shows that chain', async (_name, chain, isShown) => {
    const payments = [
      await app.pay({ token: { asset: 'BTC', network: 'bitcoin' } }),
      await app.pay({ token: { asset: 'USDT', network: 'ethereum' } }),
    ];
    const linked: (string | null)[] = [];
    const expected: (string | null)[] = [];
    for (const { id } of payments) {
      await act(owner.browser, publicPaymentId(await app.read(id)), 'complete');
      const rail = {
        ...app.railFor('test'),
        payoutChain: () => chain.payoutChain,
        evmChain: () => ({ chainId: chain.chainId, contract: null }),
      };
      const selector = { id, projectId: app.projectId, mode: 'test' } as const;
      const seen = await readPaymentDetails({ ...app, railFor: () => rail }, selector);
      if (seen === null) throw new Error('The payment is gone.');
      const may = { mayChange: true, seesWebhooks: true, mayAnnotate: true, mayDeleteNotes: true };
      const view = paymentView(seen, app.links, { personId: owner.id, ...may, refundsTo: 'any' });
      for (const { transaction_hash, explorer_url, network } of view.transfers) {
        const site = network === 'bitcoin' ? 'https://mempool.space' : 'https://etherscan.io';
        linked.push(explorer_url);
        expected.push(isShown ? `${site}/tx/${transaction_hash}` : null);
      }
    }
    expect([linked, linked.length]).toEqual([expected, 2]);
  });

  it('names the idempotency key of the request that created it', async () => {
    const shop = await test.http.shop();
    const order = await shop.call({
      path: '/v1/orders',
      body: { amount: 5, currency: 'USD', crypto_currency: 'BTC' },
      headers: { 'idempotency-key': 'cart-5' },
    });
    const view = await get<PaymentView>(owner.browser, `${pathOf(shop.projectId)}/${order.body.id}`);
    expect(view.idempotency_key).toBe('cart-5');
  });
});

describe('an action on a payment', () => {
  it('has the same effect as by the API, answers with its consequences, and is in the audit log', async () => {
    const done = {
      complete: await app.pay(),
      cancel: await app.pay({ api: 'transaction' }),
      accept: await app.pay(),
    };
    const late = publicPaymentId(done.accept);
    await act(owner.browser, late, 'simulate', { outcome: 'late' });
    for (const [action, payment] of Object.entries(done)) {
      app.clock.advance(1);
      const id = publicPaymentId(payment);
      const status = action === 'cancel' ? 'cancelled' : 'completed';
      const answer = await act(owner.browser, id, action);
      expect([action, answer.status, answer.body.consequences.to]).toEqual([action, 200, status]);
      expect(answer.body.payment.status).toBe(status);
      expect(answer.body.consequences.events).toContain(`order.${status}`);
      const { data } = await get<{ readonly data: readonly AuditEntryView[] }>(
        owner.browser,
        `/dashboard/api/projects/${app.projectId}/audit?limit=1`,
      );
      expect(data).toMatchObject([
        {
          action: `payment.${action}`,
          actor: { kind: 'person', name: owner.email },
          subject: { kind: 'payment', id },
          after: { status },
        },
      ]);
    }
  });

  it('is refused with the reason if the payment does not allow it, and changes nothing', async () => {
    const id = publicPaymentId(await app.pay());
    await act(owner.browser, id, 'cancel');
    const before = await get<PaymentView>(owner.browser, `${pathOf(app.projectId)}/${id}`);
    expect(await act(owner.browser, id, 'complete')).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringMatching(/^This payment is no longer open/) } },
    });
    const inGerman = await owner.browser.call({
      method: 'POST',
      path: `${pathOf(app.projectId)}/${id}/complete`,
      headers: { 'accept-language': 'de' },
      body: {},
    });
    expect(inGerman.text).toContain('Diese Zahlung ist nicht mehr offen');
    expect(await get(owner.browser, `${pathOf(app.projectId)}/${id}`)).toEqual(before);
    const live = publicPaymentId(await app.pay({ mode: 'live' }));
    const viewOfLive = await get<PaymentView>(owner.browser, `${pathOf(app.projectId, 'live')}/${live}`);
    expect(viewOfLive.can).toMatchObject({ complete: false, cancel: true, simulate: [] });
    expect(await act(owner.browser, live, 'simulate', { outcome: 'won' }, app.projectId, 'live')).toMatchObject({
      status: 400,
      body: { error: { param: 'outcome' } },
    });
  });

  it('advances the time of a test payment, which its history tells with who did it', async () => {
    const { projectId } = await test.http.shop();
    const payment = await app.pay({ projectId });
    const id = publicPaymentId(payment);
    const answer = await act(owner.browser, id, 'advance', { to: 'final' }, projectId);
    const at = new Date(payment.createdAt + 60_000).toISOString();
    expect(answer).toMatchObject({ status: 200, body: { now: at, moments: 1, payment: { status: 'completed' } } });
    const { timeline, can } = answer.body.payment;
    expect(timeline).toContainEqual(
      expect.objectContaining({ kind: 'action', action: 'payment.advance', by: owner.email }),
    );
    expect(can.advance).toBe(false);
    expect(await act(owner.browser, id, 'advance', { to: 'next' }, projectId)).toMatchObject({
      status: 400,
      body: { error: { message: expect.stringContaining('Nothing of this payment happens by itself any more') } },
    });
  });

  it('is offered exactly when it is possible, whatever happened before', async () => {
    const steps = fc.constantFrom('complete', 'cancel', 'accept', 'advance', ...SIMULATIONS);
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { minLength: 1, maxLength: 5 }), fc.boolean(), async (actions, isOrder) => {
        const payment = await app.pay(isOrder ? {} : { api: 'transaction', token: null });
        const id = publicPaymentId(payment);
        let view = await get<PaymentView>(owner.browser, `${pathOf(app.projectId)}/${id}`);
        for (const action of actions) {
          const simulation = SIMULATIONS.find((one) => one === action);
          const isOffered =
            simulation === undefined
              ? view.can[action as 'complete' | 'cancel' | 'accept' | 'advance']
              : view.can.simulate.includes(simulation);
          const answer =
            simulation === undefined
              ? await act(owner.browser, id, action, action === 'advance' ? { to: 'next' } : {})
              : await act(owner.browser, id, 'simulate', { outcome: simulation });
          expect([action, view.status, answer.status]).toEqual([action, view.status, isOffered ? 200 : 400]);
          if (answer.status === 200) view = answer.body.payment;
          app.clock.advance(1);
        }
      }),
      { numRuns: 40 },
    );
  });
});
