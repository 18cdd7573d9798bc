import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { encodeId } from '../../domain/id.ts';
import { lockPayments } from '../../store/payments/payments.ts';
import { simulatePayment } from '../payments/simulate-payment.ts';
import { pauseEndpoint } from './change-endpoint.ts';
import { retryDelivery } from './deliveries.ts';
import { moveStrayMessages } from './record-messages.ts';
import { resendEvent } from './resend-event.ts';
import { retryDeliveries } from './retry-deliveries.ts';
import { messagesAt, SHOP_ENDPOINT, shopApp, typesAt } from './shop-messages.fixture.ts';
import { reopenEndpoint } from './webhook-endpoints.ts';
import { blockedStatements, deliverAll, shop, silentShop, waitingTransaction, webhookApp } from './webhooks.fixture.ts';

const MINUTE_MS = 60_000;

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
    expect(messagesAt(receiver)[5]).toMatchObject({
      isRedelivery: true,
      deliveryId: expect.stringMatching(/^dlv_\d+-2$/),
    });
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

  it('outlives a shop that is down for an hour: nothing is given up, and the first message is tried every few minutes', async () => {
    let isDown = true;
    const { app, receiver, invoice, pay, deliver, states, queue } = await shopApp(() => (isDown ? 503 : 200));
    await pay(await invoice(), 'part');
    await deliver();
    for (let minute = 1; minute <= 60; minute += 1) {
      app.clock.advance(MINUTE_MS);
      await deliver();
    }
    expect(new Set((await states()).map((text) => text.split(' ')[1]))).toEqual(new Set(['waiting']));
    const before = typesAt(receiver).length;
    expect(before).toBeGreaterThan(15);
    isDown = false;
    app.clock.advance(5 * MINUTE_MS);
    await deliver();
    expect(typesAt(receiver).slice(before)).toEqual([
      'InvoiceCreated',
      'InvoiceReceivedPayment',
      'InvoicePaymentSettled',
    ]);
    expect(await queue()).toEqual([]);
  });

  it('counts refusals alone: attempts during an outage give no message up', async () => {
    const answers = [...Array.from({ length: 12 }, () => 521), 429, 500, 500, 500];
    const { app, invoice, pay, deliver, states } = await shopApp((type) =>
      type === 'InvoiceCreated' ? (answers.shift() ?? 200) : 200,
    );
    await pay(await invoice(), 'part');
    while (answers.length > 1) {
      await deliver();
      expect([answers.length, (await states())[0]]).toEqual([answers.length, 'InvoiceCreated waiting']);
      app.clock.advance(5 * MINUTE_MS);
    }
    await deliver();
    expect((await states())[0]).toBe('InvoiceCreated overtaken');
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
    const { id } = await webhooks.register(receiver.url, SHOP_ENDPOINT);
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

describe('a message that is saved while the one before it is recorded', () => {
  /** An invoice whose first message a process has sent and not recorded, and whose next ones a transaction saves. */
  const halfSaved = async () => {
    const webhooks = await shopApp();
    const { app, invoice, pay, deliverer, receiver } = webhooks;
    const payment = await invoice();
    const process = deliverer();
    return { ...webhooks, payment, process, paying: () => pay(payment, 'part'), receiver, app };
  };

  it('waits for its turn if it comes first, and is due at once if it comes later', async () => {
    const { app, payment, process, paying, states, deliver, queue } = await halfSaved();
    // The record waits for the payment's lock, which the change holds until its messages are saved.
    await waitingTransaction(app, async (trx) => {
      await lockPayments(trx, [payment.id]);
      await process.takeDue();
      await blockedStatements(app, 1);
      expect(await queue()).toHaveLength(1);
    });
    await process.idle();
    expect(await queue()).toEqual([]);
    await paying();
    await deliver();
    expect(new Set((await states()).map((text) => text.split(' ')[1]))).toEqual(new Set(['delivered']));
  });

  it('is found by the next record, whichever of both ends first', async () => {
    const { app, process, paying, states, deliver, queue, payment } = await halfSaved();
    await waitingTransaction(app, async (trx) => {
      await lockPayments(trx, [payment.id]);
      const changing = paying();
      await process.takeDue();
      // The change and the record wait for the same lock.
      await blockedStatements(app, 2);
      void changing;
    });
    await process.idle();
    await deliver();
    expect(new Set((await states()).map((text) => text.split(' ')[1]))).toEqual(new Set(['delivered']));
    expect(await queue()).toEqual([]);
  });
});

describe('the queue of messages', () => {
  it('is moved on by the worker where a process of another version left it, and ends where an endpoint was closed meanwhile', async () => {
    const { app, id, receiver, invoice, pay, deliver, queue, states } = await shopApp();
    await pay(await invoice(), 'part');
    // A process that knows no queue has delivered the first one.
    await sql`update deliveries set state = 'delivered', next_attempt_at = null
      where id = (select min(delivery_id) from message_queue)`.execute(app.db);
    await deliver();
    expect(receiver.requests).toHaveLength(0);
    await moveStrayMessages(app);
    await deliver();
    expect(typesAt(receiver)).toEqual(['InvoiceReceivedPayment', 'InvoicePaymentSettled']);
    await pay(await invoice(), 'part');
    await app.db.updateTable('webhook_endpoints').set({ disabled_at: new Date() }).where('id', '=', id).execute();
    await moveStrayMessages(app);
    await deliver();
    expect(await queue()).toEqual([]);
    expect((await states()).slice(3).map((text) => text.split(' ')[1])).toEqual(['stopped', 'stopped', 'stopped']);
  });
});
