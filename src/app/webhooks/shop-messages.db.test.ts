import { createHmac } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { COMPLETE_AFTER_MS } from '../../../test/harness.ts';
import { deliveryId, encodeId } from '../../domain/id.ts';
import { MESSAGE_TYPES } from '../../domain/shop-message.ts';
import { countCustomerData, deleteCustomerData } from '../../store/payments/customer-data.ts';
import { eventsOf } from '../../store/payments/payment-events.ts';
import { listLog } from '../../store/webhooks/event-list.ts';
import { readLog } from '../../store/webhooks/event-log.ts';
import { listMessages, withMessagesBetween } from '../../store/webhooks/message-list.ts';
import { hasCustomerData } from '../../wire/customer-data.ts';
import { acceptPayment, cancelPayment } from '../payments/payment-actions.ts';
import { runDue } from '../payments/run-due.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { changeEndpoint } from './change-endpoint.ts';
import { sendTestEvent } from './deliveries.ts';
import { numberDue } from './number-events.ts';
import { messagesAt, SHOP_SECRET, shopApp, typesAt } from './shop-messages.fixture.ts';
import { createEndpoint, deleteEndpoint, rotateEndpointSecret } from './webhook-endpoints.ts';
import { shop } from './webhooks.fixture.ts';

const policyOf = () => ({ mode: 'test', production: false, allowCidrs: [] }) as const;

const fail = (): never => {
  throw new Error('Nothing came.');
};

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
    expect(headers['btcpay-sig']).toBe(`sha256=${createHmac('sha256', SHOP_SECRET).update(body).digest('hex')}`);
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
    const events = page.entries.map((entry) =>
      'event' in entry ? (JSON.parse(entry.event) as { readonly type: string }).type : 'gap',
    );
    expect(events).toEqual(['invoice.created', 'invoice.confirming', 'invoice.completed']);
    expect([page.head, page.next]).toEqual([3n, 3n]);
    const search = { type: null, paymentId: null, createdFrom: null };
    const log = await listLog(app.db, scope, search, { below: null, limit: 2 });
    const listed = async (entries: typeof log.entries, below: bigint | null, isLast: boolean) =>
      (await withMessagesBetween(app.db, scope, search, { entries, below, isLast })).flatMap((entry) =>
        'type' in entry ? [entry.type] : [],
      );
    const newest = await listed(log.entries, null, false);
    const older = await listLog(app.db, scope, search, { below: log.next, limit: 2 });
    const all = [...newest, ...(await listed(older.entries, log.next, true))];
    expect(all.filter((type) => !type.startsWith('Invoice'))).toEqual(events.toReversed());
    expect(all.filter((type) => type.startsWith('Invoice'))).toEqual([
      'InvoiceSettled',
      'InvoicePaymentSettled',
      'InvoiceProcessing',
      'InvoiceReceivedPayment',
      'InvoiceCreated',
    ]);
    const bounds = { below: null, above: null, limit: 10 };
    expect(await listMessages(app.db, scope, ['InvoiceSettled'], search, bounds)).toMatchObject([
      { type: 'InvoiceSettled', paymentId: payment.id, deliveries: 1, delivered: 0 },
    ]);
    const types = (await app.db.transaction().execute((trx) => eventsOf(trx, payment.id, 100))).map(({ type }) => type);
    expect(types.filter((type) => type.startsWith('Invoice'))).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoiceProcessing',
      'InvoicePaymentSettled',
      'InvoiceSettled',
    ]);
  });

  it('lose what the customer wrote when it is deleted, and so do the answers that repeat it, but for the order number', async () => {
    const { app, invoice, pay, deliver, receiver } = await shopApp();
    const sent = {
      orderId: '4711',
      buyerEmail: 'mara@example.com',
      title: 'Dr',
      items: [{ metadata: { a: 1.5 } }],
    };
    const payment = await invoice({
      customerEmail: 'mara@example.com',
      shopMetadata: JSON.stringify(sent).replace('1.5', '1.50'),
    });
    await pay(payment);
    await deliver();
    expect(receiver.requests[0]?.body).toContain('"items":[{"metadata":{"a":1.50}}]');
    await app.db.updateTable('delivery_attempts').set({ response_body: 'for mara@example.com' }).execute();
    const choice = { kind: 'email', email: 'mara@example.com' } as const;
    const counted = await countCustomerData(app.db, app.projectId, choice, 10);
    // Three events of ours, and five messages.
    expect(counted.counts).toMatchObject({ payments: 1, events: 8, answers: 5 });
    await app.db
      .transaction()
      .execute((trx) => deleteCustomerData(trx, app.projectId, choice, { after: null, limit: 10 }));
    const events = await app.db.selectFrom('events').select(['type', 'body']).execute();
    expect(events.filter(({ body }) => hasCustomerData(body))).toEqual([]);
    const metadata = events.flatMap(({ type, body }) =>
      type.startsWith('Invoice') ? [(JSON.parse(body) as { readonly metadata: object }).metadata] : [],
    );
    expect(metadata).toEqual(Array.from({ length: 5 }, () => ({ orderId: '4711' })));
    const rest = JSON.stringify([
      events,
      await app.db.selectFrom('delivery_attempts').select(['response_body', 'response_headers']).execute(),
    ]);
    expect(rest).not.toMatch(/mara|"Dr"/);
    expect((await countCustomerData(app.db, app.projectId, choice, 10)).counts).toMatchObject({
      events: 0,
      answers: 0,
    });
    // Each transfer still counts as told.
    await simulatePayment(app, { id: payment.id }, 'reorged');
    await deliver();
    expect(typesAt(receiver)).toHaveLength(5);
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
