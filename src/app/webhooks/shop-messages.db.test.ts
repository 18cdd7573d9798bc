import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { COMPLETE_AFTER_MS } from '../../../test/harness.ts';
import { deliveryId, encodeId } from '../../domain/id.ts';
import { MESSAGE_TYPES } from '../../domain/shop-message.ts';
import type { Payment } from '../../domain/payment.ts';
import { eventsOf } from '../../store/payments/payment-events.ts';
import { readLog } from '../../store/webhooks/event-log.ts';
import { acceptPayment, cancelPayment } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { changeEndpoint, pauseEndpoint } from './change-endpoint.ts';
import { retryDelivery, sendTestEvent } from './deliveries.ts';
import { numberDue } from './number-events.ts';
import { resendEvent } from './resend-event.ts';
import { retryDeliveries } from './retry-deliveries.ts';
import { createEndpoint, deleteEndpoint, reopenEndpoint, rotateEndpointSecret } from './webhook-endpoints.ts';
import { deliverAll, shop, silentShop, webhookApp, type Shop } from './webhooks.fixture.ts';

const MINUTE_MS = 60_000;
const SECRET = 'a secret of the shop';
const SHOP = { format: 'greenfield', secret: SECRET } as const;
const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;

interface Message {
  readonly type: string;
  readonly invoiceId: string;
  readonly deliveryId: string;
}

const messagesAt = ({ requests }: Pick<Shop, 'requests'>): readonly Message[] =>
  requests.map(({ body }) => JSON.parse(body) as Message);
const typesAt = (receiver: Pick<Shop, 'requests'>): readonly string[] => messagesAt(receiver).map(({ type }) => type);

const fail = (): never => {
  throw new Error('Nothing came.');
};

/** The application with a shop's endpoint whose receiver answers as the test says. */
async function shopApp(answer: (type: string) => number = () => 200) {
  const webhooks = await webhookApp();
  const receiver = await shop((response, { body }) =>
    response.writeHead(answer((JSON.parse(body) as Message).type)).end(),
  );
  const { id, endpoint } = await webhooks.register(receiver.url, SHOP);
  const { app } = webhooks;
  return {
    ...webhooks,
    receiver,
    id,
    endpoint,
    invoice: (facts: object = {}): Promise<Payment> => app.pay({ api: 'invoice', token: null, ...facts }),
    pay: async (payment: Payment, simulation: 'paid' | 'part' | 'over' | 'late' | 'failed' | 'expired' = 'paid') => {
      const outcome = await simulatePayment(app, { id: payment.id }, simulation);
      expect(outcome.kind).toBe('changed');
    },
    deliver: () => deliverAll(app, webhooks.deliverer()),
    states: async () => (await webhooks.log(id)).map(({ type, state }) => `${type} ${state}`),
    queue: () => app.db.selectFrom('message_queue').selectAll().execute(),
  };
}

describe('messages about an invoice', () => {
  it('reach the endpoint of a shop as its plugin reads them, signed with the whole secret, and no other header of ours', async () => {
    const { app, receiver, id, invoice, deliver, log } = await shopApp();
    const payment = await invoice({ merchantOrderId: 'A-1', metadata: { note: 'Grüße €' } });
    await deliver();
    const [request] = receiver.requests;
    const { body, headers } = request ?? fail();
    const [delivery] = await log(id);
    const number = deliveryId(delivery?.id ?? 0n);
    expect(JSON.parse(body)).toEqual({
      deliveryId: number,
      webhookId: encodeId('endpoint', id),
      originalDeliveryId: number,
      isRedelivery: false,
      type: 'InvoiceCreated',
      timestamp: Math.floor(payment.createdAt / 1000),
      storeId: app.projectId,
      invoiceId: encodeId('invoice', payment.id),
      metadata: { note: 'Grüße €', orderId: 'A-1' },
    });
    expect(headers['btcpay-sig']).toBe(`sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`);
    expect(Object.keys(headers).filter((name) => /webhook|service/.test(name))).toEqual([]);
    expect(body.endsWith(delivery?.body.slice(1) ?? '?')).toBe(true);
  });

  it('tell of money that is seen, enough, confirmed and settled at once in that order', async () => {
    const { receiver, invoice, pay, deliver, app } = await shopApp();
    const payment = await invoice();
    await pay(payment);
    await deliver();
    expect(typesAt(receiver)).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
    const { quote, transactionHash } = await app.read(payment.id);
    expect(messagesAt(receiver)[1]).toMatchObject({
      afterExpiration: false,
      paymentMethodId: `${quote?.asset}-CHAIN`,
      payment: { id: `${transactionHash}-0`, fee: '0', status: 'Settled', destination: quote?.address },
    });
    expect(messagesAt(receiver)[4]).toMatchObject({ manuallyMarked: false, overPaid: false });
  });

  it('tell of money before a completion by the timer, and once of each transfer', async () => {
    const { app, receiver, invoice, deliver } = await shopApp();
    const payment = await app.pay({ api: 'invoice', token: { asset: 'BTC', network: 'bitcoin' } });
    app.clock.advance(COMPLETE_AFTER_MS);
    expect(await runDue(app, 10)).toBe(1);
    await deliver();
    const types = ['InvoiceCreated', 'InvoiceReceivedPayment', 'InvoicePaymentSettled', 'InvoiceSettled'];
    expect(typesAt(receiver)).toEqual(types);
    expect((await app.read(payment.id)).status).toBe('completed');
    const part = await invoice();
    await simulatePayment(app, { id: part.id }, 'part');
    await simulatePayment(app, { id: part.id }, 'paid');
    await deliver();
    const about = messagesAt(receiver).filter(({ invoiceId }) => invoiceId === encodeId('invoice', part.id));
    expect(about.map(({ type }) => type)).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoicePaymentSettled',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });

  it('tell of money that came late after the end, and who ended an invoice', async () => {
    const { app, receiver, invoice, pay, deliver } = await shopApp();
    const late = await invoice();
    await pay(late, 'late');
    await acceptPayment(app, { id: late.id });
    await deliver();
    await cancelPayment(app, { id: (await invoice()).id });
    await deliver();
    const details = messagesAt(receiver).map(({ type, invoiceId: _i, deliveryId: _d, ...rest }) => {
      const { afterExpiration, manuallyMarked, partiallyPaid } = rest as Record<string, unknown>;
      return [type, afterExpiration ?? manuallyMarked ?? partiallyPaid];
    });
    expect(details.filter(([type]) => type !== 'InvoiceCreated')).toEqual([
      ['InvoiceExpired', false],
      ['InvoiceReceivedPayment', true],
      ['InvoicePaymentSettled', true],
      ['InvoiceSettled', true],
      ['InvoiceInvalid', true],
    ]);
  });

  it('are stored only while an endpoint gets them, and never of orders', async () => {
    const { app, id, invoice, pay, register } = await shopApp();
    const kept = async () =>
      (
        await app.db
          .selectFrom('events')
          .select('type')
          .where('type', 'in', [...MESSAGE_TYPES])
          .execute()
      ).length;
    await pay(await app.pay());
    expect(await kept()).toBe(0);
    await deleteEndpoint(app, id);
    const payment = await invoice();
    await pay(payment, 'part');
    expect(await kept()).toBe(0);
    await register((await shop()).url, { format: 'greenfield', events: 'InvoiceSettled' });
    await pay(payment);
    // An endpoint that comes later hears of all the money, before the end.
    expect(await kept()).toBe(6);
  });

  it('are no events of the log, and stand among the events of their payment in order', async () => {
    const { app, invoice, pay } = await shopApp();
    const payment = await invoice();
    app.clock.advance(1);
    await pay(payment);
    while (await numberDue(app));
    const scope = { projectId: app.projectId, mode: 'test' } as const;
    const page = await readLog(app.db, scope, { after: 0n, limit: 100, types: null, paymentId: null });
    if (page === 'deleted') throw new Error('The log was deleted.');
    const events = page.entries.map((entry) => ('event' in entry ? (JSON.parse(entry.event) as Message).type : 'gap'));
    expect(events).toEqual(['invoice.created', 'invoice.confirming', 'invoice.completed']);
    expect(page.next).toBe(page.head);
    const types = (await app.db.transaction().execute((trx) => eventsOf(trx, payment.id, 100))).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('Invoice'))).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });

  it('can be tried out: a plugin knows by the id of the invoice that it is a test', async () => {
    const { app, receiver, id, deliver } = await shopApp();
    for (const type of MESSAGE_TYPES) await sendTestEvent(app, id, type);
    await deliver();
    expect(typesAt(receiver).toSorted()).toEqual([...MESSAGE_TYPES].toSorted());
    for (const { invoiceId } of messagesAt(receiver)) expect(invoiceId).toMatch(/^__test__inv_/);
    expect(await numberDue(app)).toBe(false);
    expect(await sendTestEvent(app, id, 'order.created')).toMatchObject({ code: 'event_unknown' });
  });
});

/** An invoice whose money is seen, which makes the shop's second message. */
describe('the order of messages', () => {
  it('is kept at an endpoint: the next waits until the one before was acknowledged, and other invoices do not', async () => {
    let failing = true;
    const { app, receiver, invoice, pay, deliver, deliverer, states, queue } = await shopApp((type) =>
      type === 'InvoiceCreated' && failing ? 500 : 200,
    );
    const first = await invoice();
    await deliver();
    await pay(first, 'part');
    await deliver();
    // Two attempts failed, the third waits a minute.
    expect(await states()).toEqual([
      'InvoiceCreated waiting',
      'InvoiceReceivedPayment waiting',
      'InvoicePaymentSettled waiting',
    ]);
    expect(typesAt(receiver)).toEqual(['InvoiceCreated', 'InvoiceCreated']);
    failing = false;
    const other = await invoice();
    await pay(other, 'part');
    await deliver();
    expect(typesAt(receiver).slice(2)).toEqual(['InvoiceCreated', 'InvoiceReceivedPayment', 'InvoicePaymentSettled']);
    app.clock.advance(MINUTE_MS);
    await deliverAll(app, deliverer());
    expect(typesAt(receiver).slice(5)).toEqual(['InvoiceCreated', 'InvoiceReceivedPayment', 'InvoicePaymentSettled']);
    const redelivered = messagesAt(receiver)[5] as Message & { readonly isRedelivery: boolean };
    expect(redelivered).toMatchObject({ isRedelivery: true, deliveryId: expect.stringMatching(/^dlv_\d+-2$/) });
    expect(await queue()).toEqual([]);
  });

  it('gives up a message that failed three times as soon as a newer one waits, and says so', async () => {
    const { app, receiver, invoice, pay, deliver, states, queue } = await shopApp((type) =>
      type === 'InvoiceCreated' ? 500 : 200,
    );
    const before = await invoice();
    await pay(before, 'part');
    await deliver();
    app.clock.advance(MINUTE_MS);
    await deliver();
    expect(typesAt(receiver).slice(3)).toEqual(['InvoiceReceivedPayment', 'InvoicePaymentSettled']);
    expect(await states()).toEqual([
      'InvoiceCreated overtaken',
      'InvoiceReceivedPayment delivered',
      'InvoicePaymentSettled delivered',
    ]);
    expect(await queue()).toEqual([]);
    // The newer one comes after the third failure: the older one is attempted at once, and then given up.
    const after = await invoice();
    await deliver();
    app.clock.advance(MINUTE_MS);
    await deliver();
    expect((await states()).slice(3)).toEqual(['InvoiceCreated waiting']);
    app.clock.advance(1_000);
    await pay(after, 'part');
    await deliver();
    expect((await states()).slice(3)).toEqual([
      'InvoiceCreated overtaken',
      'InvoiceReceivedPayment delivered',
      'InvoicePaymentSettled delivered',
    ]);
  });

  it('ends with the endpoint: what waits for its turn is stopped, and a new start waits for nothing', async () => {
    const { app, id, receiver, invoice, pay, deliver, states, queue } = await shopApp((type) =>
      type === 'InvoiceCreated' ? 410 : 200,
    );
    const payment = await invoice();
    await pay(payment, 'part');
    await deliver();
    expect(await states()).toEqual([
      'InvoiceCreated stopped',
      'InvoiceReceivedPayment stopped',
      'InvoicePaymentSettled stopped',
    ]);
    expect(await queue()).toEqual([]);
    await reopenEndpoint(app, id);
    await simulatePayment(app, { id: payment.id }, 'paid');
    await deliver();
    expect(typesAt(receiver).at(-1)).toBe('InvoiceSettled');
    expect(await queue()).toEqual([]);
  });

  it('holds while an endpoint is paused, and goes on where it stood', async () => {
    const { app, id, receiver, invoice, pay, deliverer, states } = await shopApp();
    await pauseEndpoint(app, id);
    await pay(await invoice());
    await deliverer().takeDue();
    expect(new Set((await states()).map((text) => text.split(' ')[1]))).toEqual(new Set(['waiting']));
    await reopenEndpoint(app, id);
    await deliverAll(app, deliverer());
    expect(typesAt(receiver).at(-1)).toBe('InvoiceSettled');
    expect(typesAt(receiver)).toHaveLength(5);
  });

  it('is not undone by sending again: a waiting one is refused, and many again are only those that nothing followed', async () => {
    const webhooks = await shopApp((type) => (type === 'InvoiceCreated' ? 500 : 200));
    const { app, id, invoice, pay, deliver, log, sender, sealingKeys } = webhooks;
    await pay(await invoice(), 'part');
    await deliver();
    const [, held] = await log(id);
    expect(await retryDelivery(app, { sender, sealingKeys }, held?.id ?? 0n)).toMatchObject({ code: 'delivery_waits' });
    app.clock.advance(MINUTE_MS);
    await deliver();
    const search = { endpointId: null, types: null, state: null, answer: null, createdFrom: null } as const;
    const all = { ...search, createdBefore: null, paymentId: null };
    const scope = { projectId: app.projectId, mode: 'test' } as const;
    expect(await retryDeliveries(app, scope, all)).toMatchObject({ code: 'nothing_to_retry' });
    // A person may send the overtaken one again, knowing what it does.
    const [overtaken] = await log(id);
    expect(await retryDelivery(app, { sender, sealingKeys }, overtaken?.id ?? 0n)).toMatchObject({
      acknowledged: false,
    });
    const eventId = overtaken?.eventId ?? '';
    const present = (): string => 'sent';
    const asked = { scope, eventId, idempotency: null, present };
    const ours = await webhooks.register((await shop()).url);
    const toOurs = { ...asked, endpointId: ours.id, withMessages: true };
    expect(await resendEvent(app, toOurs)).toMatchObject({ code: 'endpoint_format' });
    expect(await resendEvent(app, { ...asked, endpointId: null, withMessages: true })).toMatchObject({ body: 'sent' });
    expect(await resendEvent(app, { ...asked, endpointId: null, withMessages: false })).toMatchObject({
      code: 'unknown_event',
    });
  });

  it('survives a message that is saved while the one before it is being recorded', async () => {
    const webhooks = await webhookApp();
    const { app } = webhooks;
    const receiver = await silentShop();
    const { id } = await webhooks.register(receiver.url, SHOP);
    const payments = [];
    for (let index = 0; index < 20; index += 1) payments.push(await app.pay({ api: 'invoice', token: null }));
    const process = webhooks.deliverer();
    let open = true;
    const answering = (async () => {
      while (open) (await receiver.next()).end();
    })();
    const paying = payments.map((payment) => simulatePayment(app, { id: payment.id }, 'paid'));
    const delivering = deliverAll(app, process);
    await Promise.all([...paying, delivering]);
    await deliverAll(app, process);
    open = false;
    void answering;
    expect((await webhooks.log(id)).filter(({ state }) => state !== 'delivered')).toEqual([]);
    for (const { id: paymentId } of payments) {
      const own = messagesAt(receiver).filter(({ invoiceId }) => invoiceId === encodeId('invoice', paymentId));
      expect(own.map(({ type }) => type)).toEqual([
        'InvoiceCreated',
        'InvoiceReceivedPayment',
        'InvoiceProcessing',
        'InvoicePaymentSettled',
        'InvoiceSettled',
      ]);
    }
  });
});

describe('the endpoint of a shop', () => {
  it('takes all seven types or some of them, none of ours, and the secret of the shop or a new one', async () => {
    const { app, sealingKeys, id, register } = await shopApp();
    const make = (facts: object) =>
      createEndpoint(app, sealingKeys, policyOf, {
        projectId: app.projectId,
        mode: 'test',
        url: 'https://shop.example/',
        events: 'all',
        ...facts,
      });
    const made = await make({ format: 'greenfield' });
    expect(made).toMatchObject({ kind: 'done', endpoint: { events: MESSAGE_TYPES, format: 'greenfield' } });
    expect(made.kind === 'done' && made.secret).toMatch(/^[0-9a-f]{64}$/);
    const refused = { kind: 'rejected', code: 'event_unknown', param: 'events' };
    expect(await make({ format: 'greenfield', events: 'order.created' })).toMatchObject(refused);
    expect(await make({ events: 'InvoiceSettled' })).toMatchObject(refused);
    for (const secret of ['short', 'x'.repeat(257)]) {
      expect(await make({ format: 'greenfield', secret })).toMatchObject({ code: 'secret_length', param: 'secret' });
    }
    const wanted = { url: 'https://shop.example/new', events: ['InvoiceSettled'] } as const;
    expect(await changeEndpoint(app, policyOf, id, wanted)).toEqual({ kind: 'done' });
    const ours = await register('https://shop.example/ours');
    expect(await changeEndpoint(app, policyOf, ours.id, wanted)).toMatchObject(refused);
    const given = 'another secret of the shop';
    expect(await rotateEndpointSecret(app, sealingKeys, id, { given })).toMatchObject({ secret: given });
  });
});
