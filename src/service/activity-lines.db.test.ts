import { describe, expect, it } from 'vitest';
import { simulatePayment } from '../app/payments/simulate-payment.ts';
import { createRefund } from '../app/refunds/create-refund.ts';
import { deliverAll, shop, webhookApp } from '../app/webhooks/webhooks.fixture.ts';
import { forRequest } from '../app/context.ts';
import type { Activity, Observer } from '../app/observer.ts';
import type { Config } from '../config/config.ts';
import { encodeId } from '../domain/id.ts';
import { logActivities } from './activity-lines.ts';
import { createLogger, writeProblem } from './log.ts';
import { createProblemReporter } from './problems.ts';

const MINUTE_MS = 60_000;

/** A sandbox whose lines are kept, problems included; its clock stands still until the test moves it. */
async function loggedApp(level: Config['logLevel'] = 'info') {
  const lines: Record<string, unknown>[] = [];
  const log = createLogger(level, { write: (line) => void lines.push(JSON.parse(line)) });
  let observer: Observer = () => {};
  const webhooks = await webhookApp({ observer: (activity) => observer(activity) });
  const { clock } = webhooks.app;
  const problems = createProblemReporter(clock, (line) => writeProblem(log, line));
  observer = logActivities(log, problems);
  const pass = (ms: number): void => {
    for (const end = clock() + ms; clock() < end; problems.flush()) clock.advance(Math.min(1_000, end - clock()));
  };
  return {
    ...webhooks,
    pass,
    /** The lines written since the last call. */
    take: () => lines.splice(0).map(({ time: _time, ...line }) => line),
    happen: (activity: Activity): void => observer(activity),
  };
}

describe('a payment', () => {
  it('has a line of each transition, with its ids, its money and the request that asked for it', async () => {
    const { app, take } = await loggedApp();
    const order = await app.pay({ customerEmail: 'ada@example.com', metadata: { seat: '12-secret' } });
    expect(take()).toEqual([]);
    await simulatePayment(forRequest(app, 'req-1'), { id: order.id }, 'part');
    await simulatePayment(forRequest(app, 'req-2'), { id: order.id }, 'paid');
    const payment = encodeId('order', order.id);
    const common = { level: 30, payment, project: app.projectId, mode: 'test', network: 'bitcoin', asset: 'BTC' };
    const lines = take();
    expect(lines.map(({ msg }) => msg)).toEqual([
      `payment ${payment} is underpaid`,
      `payment ${payment} went from pending to processing (money)`,
      `payment ${payment} went from processing to confirming (money)`,
      `payment ${payment} went from confirming to completed (money)`,
    ]);
    expect(lines[0]).toMatchObject({ ...common, kind: 'payment_exception', exception: 'underpaid', request: 'req-1' });
    expect(lines[3]).toEqual({
      ...common,
      kind: 'payment_transition',
      from: 'confirming',
      to: 'completed',
      cause: 'money',
      owed: expect.stringMatching(/^0\.\d+$/),
      received: expect.stringMatching(/^0\.\d+$/),
      confirmed: expect.stringMatching(/^0\.\d+$/),
      transaction: expect.stringMatching(/^[0-9a-f]{64}$/),
      exception: 'none',
      age_ms: 0,
      request: 'req-2',
      msg: expect.any(String),
    });
    expect(JSON.stringify(lines)).not.toMatch(/ada@example|12-secret/);
  });

  it('has a line of its creation at debug alone', async () => {
    const { app, take } = await loggedApp('debug');
    const order = await app.pay({ requestId: 'req-1', customerEmail: 'ada@example.com' });
    expect(take()).toEqual([
      {
        level: 20,
        kind: 'payment_created',
        payment: encodeId('order', order.id),
        project: app.projectId,
        mode: 'test',
        network: 'bitcoin',
        asset: 'BTC',
        status: 'pending',
        request: 'req-1',
        msg: `payment ${encodeId('order', order.id)} was created`,
      },
    ]);
  });

  it('has a line of each of its refunds’ steps', async () => {
    const { app, take } = await loggedApp();
    const order = await app.pay();
    await simulatePayment(app, { id: order.id }, 'paid');
    take();
    const request = { projectId: app.projectId, mode: 'test', api: 'order', paymentId: order.id } as const;
    const wish = { ...request, wanted: null, address: null, reason: 'a customer’s own words' };
    await createRefund(forRequest(app, 'req-3'), wish, null);
    const [line] = take();
    expect(line).toMatchObject({
      kind: 'refund',
      payment: encodeId('order', order.id),
      status: 'pending',
      request: 'req-3',
    });
    expect(line?.['msg']).toMatch(/^refund re_\w+ of payment ord_\w+: created$/);
    expect(JSON.stringify(line)).not.toContain('own words');
  });
});

describe('an attempt to deliver', () => {
  it('has one line with all that it was, and the request that its event goes back to', async () => {
    const { app, register, deliverer, take } = await loggedApp();
    const receiver = await shop();
    const { id, secret } = await register(`${receiver.url}/T0PS3CRET?token=s3cr3t-token`);
    const order = await app.pay({ requestId: 'req-1', customerEmail: 'ada@example.com' });
    await deliverAll(app, deliverer());
    const lines = take();
    expect(lines).toEqual([
      {
        level: 30,
        kind: 'delivery_attempt',
        outcome: 'delivered',
        delivery: expect.stringMatching(/^dlv_\d+$/),
        event: expect.stringMatching(/^evt_\w{26}$/),
        type: 'order.created',
        payment: encodeId('order', order.id),
        endpoint: encodeId('endpoint', id),
        project: app.projectId,
        mode: 'test',
        host: `127.0.0.1:${receiver.port}`,
        attempt: 1,
        status: 200,
        duration_ms: expect.any(Number),
        since_event_ms: expect.any(Number),
        request: 'req-1',
        msg: `order.created to ${encodeId('endpoint', id)}: delivered`,
      },
    ]);
    expect(JSON.stringify(lines)).not.toMatch(/T0PS3CRET|s3cr3t|ada@example/);
    expect(JSON.stringify(lines)).not.toContain(secret);
    const [delivery] = receiver.requests;
    expect(delivery?.headers).not.toHaveProperty('x-request-id');
  });

  it('that fails has its line too, and its endpoint is logged once a minute with a count, and once when it recovers', async () => {
    const { app, register, deliverer, take, pass } = await loggedApp();
    let isDown = true;
    const receiver = await shop((response) => void response.writeHead(isDown ? 500 : 200).end());
    const { id } = await register(receiver.url);
    const endpoint = encodeId('endpoint', id);
    const sending = deliverer();
    const pay = async (count: number): Promise<void> => {
      for (let made = 0; made < count; made += 1) await app.pay();
      await deliverAll(app, sending);
    };
    await pay(1);
    // The second attempt comes at once, by the schedule.
    expect(take().map(({ msg }) => msg)).toEqual([
      `order.created to ${endpoint}: the endpoint responded with 500; next attempt at once`,
      `webhook endpoint ${endpoint}: the endpoint responded with 500`,
      `order.created to ${endpoint}: the endpoint responded with 500; next attempt in 1 m`,
    ]);
    await pay(18);
    expect(take().filter(({ kind }) => kind !== 'delivery_attempt')).toEqual([]);
    pass(59_000);
    expect(take()).toEqual([]);
    pass(1_000);
    const [more, ...none] = take();
    expect(none).toEqual([]);
    expect(more).toMatchObject({
      level: 40,
      kind: 'trouble_goes_on',
      endpoint,
      host: `127.0.0.1:${receiver.port}`,
      times: 37,
    });
    expect(more?.['msg']).toBe(
      `webhook endpoint ${endpoint}: 37 times more in the last minute; now: the endpoint responded with 500`,
    );
    isDown = false;
    await deliverAll(app, sending);
    take();
    pass(MINUTE_MS);
    expect(take()).toMatchObject([
      {
        level: 30,
        kind: 'trouble_over',
        endpoint,
        times: 38,
        lasted_ms: MINUTE_MS,
        msg: `webhook endpoint ${endpoint}: working again after 1 m`,
      },
    ]);
  });

  it('that is answered 410 disables its endpoint, which has a line, one', async () => {
    const { app, register, deliverer, take } = await loggedApp();
    const receiver = await shop((response) => void response.writeHead(410).end());
    const { id } = await register(receiver.url);
    for (let made = 0; made < 5; made += 1) await app.pay();
    await deliverAll(app, deliverer());
    expect(take().filter(({ kind }) => kind === 'endpoint_disabled')).toMatchObject([
      { level: 40, endpoint: encodeId('endpoint', id), reason: 'The endpoint answered 410 Gone.' },
    ]);
  });
});

describe('a chain and a sweep', () => {
  it('have a line each, a warning where payments are touched', async () => {
    const { happen, take } = await loggedApp();
    const rolledBack = { kind: 'chain_rolled_back', network: 'ethereum', fromHeight: 12, toHeight: 10 } as const;
    happen({ ...rolledBack, payments: 0 });
    happen({ ...rolledBack, payments: 2 });
    happen({ kind: 'sweep_planned', projectId: 'p', network: 'ethereum', deposits: 3, calls: 1, swept: 4 });
    expect(take()).toMatchObject([
      {
        level: 30,
        kind: 'chain_rollback',
        network: 'ethereum',
        from_height: 12,
        to_height: 10,
        blocks: 2,
        payments: 0,
      },
      { level: 40, kind: 'chain_rollback', payments: 2 },
      { level: 30, kind: 'sweep', project: 'p', network: 'ethereum', deposits: 3, calls: 1, swept: 4 },
    ]);
  });
});
