import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../test/harness.ts';
import { completeSandboxPayment } from '../app/payments/payment-actions.ts';
import { simulatePayment } from '../app/payments/simulate-payment.ts';
import { createProject } from '../app/projects/projects.ts';
import type { Payment } from '../domain/payment.ts';
import { publicPaymentId } from '../domain/payment-kind.ts';
import { program, textAt, type Program } from './program.fixture.ts';
import { readXero } from '../../test/bookkeeping.ts';

/** The application at the time of the programs that are started, and the program on its database. */
async function setUp(): Promise<{ readonly app: TestApp; readonly cointill: Program }> {
  const app = await testApp();
  app.clock.set(Date.now());
  return { app, cointill: await program({ DATABASE_URL: app.database.url }) };
}

const transaction = { api: 'transaction', token: null } as const;

it('completes an order and a transaction, each by its own id', async () => {
  const { app, cointill } = await setUp();
  const order = await app.pay({ merchantOrderId: 'SHOP-1', metadata: { cart: '7' } });
  const other = await app.pay(transaction);
  const [completed, completedOther] = await Promise.all([
    cointill.json('payment', 'complete', publicPaymentId(order)),
    cointill.json('payment', 'complete', other.id),
  ]);
  expect(completed).toEqual({
    id: publicPaymentId(order),
    surface: 'order',
    mode: 'test',
    project_id: app.projectId,
    status: 'completed',
    exception: 'none',
    failure_reason: null,
    transaction_number: null,
    amount: 100,
    currency: 'USD',
    crypto_currency: 'BTC',
    network: 'bitcoin',
    crypto_amount: 0.00166667,
    amount_received: 0.00166667,
    amount_confirmed: 0.00166667,
    address: order.quote?.address,
    transaction_hash: expect.stringMatching(/^[0-9a-f]{64}$/),
    payment_url: `http://127.0.0.1:4001/pay/${publicPaymentId(order)}`,
    order_id: 'SHOP-1',
    description: null,
    customer_email: null,
    customer_name: null,
    metadata: { cart: '7' },
    success_url: null,
    cancel_url: null,
    created_at: new Date(order.createdAt).toISOString(),
    expires_at: new Date(order.expiresAt).toISOString(),
    completed_at: expect.any(String),
    cancelled_at: null,
  });
  expect(completedOther).toMatchObject({ id: other.id, surface: 'transaction', status: 'completed' });
  expect(completedOther).toMatchObject({ transaction_number: expect.stringMatching(/^TXN-\d{4}-000001$/) });
});

it('shows a payment with its timeline, its events and its transfers', async () => {
  const { app, cointill } = await setUp();
  const order = await app.pay();
  const id = publicPaymentId(order);
  const createdAt = new Date(order.createdAt).toISOString();
  await cointill.json('payment', 'simulate', id, 'paid');
  const [shown, { stdout: text }] = await Promise.all([
    cointill.json('payment', 'show', id),
    cointill.run('payment', 'show', id),
  ]);
  expect(shown).toMatchObject({
    id,
    status: 'completed',
    timeline: [
      { at: createdAt, from: null, to: 'created', cause: 'created' },
      { at: createdAt, from: 'created', to: 'prepared', cause: 'token_chosen' },
      { at: createdAt, from: 'prepared', to: 'pending', cause: 'token_chosen' },
      { at: expect.any(String), from: 'pending', to: 'processing', cause: 'money' },
      { at: expect.any(String), from: 'processing', to: 'confirming', cause: 'money' },
      { at: expect.any(String), from: 'confirming', to: 'completed', cause: 'money' },
    ],
    events: ['order.created', 'order.confirming', 'order.completed'].map((type, index) => ({
      id: expect.stringMatching(/^evt_/),
      type,
      sequence: index + 1,
      created_at: expect.any(String),
    })),
    transfers: [
      {
        network: 'bitcoin',
        crypto_currency: 'BTC',
        amount: 0.00166667,
        state: 'confirmed',
        address: order.quote?.address,
      },
    ],
  });
  expect(text.match(/^ {2}\S+Z {2}(?!#|\d).*/gm)?.map((line) => line.replace(/^ {2}\S+Z {2}/, ''))).toEqual([
    'created',
    'created → prepared: a token was chosen',
    'prepared → pending: a token was chosen',
    'pending → processing: money was detected',
    'processing → confirming: the money is in a block',
    'confirming → completed: enough money is confirmed',
  ]);
  expect(text).toContain('#3 order.completed');
  expect(text).toContain('0.00166667 BTC confirmed');
});

it('simulates money that is too much, never confirms or never comes', async () => {
  const { app, cointill } = await setUp();
  const ends = [
    ['over', { status: 'completed', exception: 'overpaid' }],
    ['failed', { status: 'failed', failure_reason: 'unconfirmed' }],
    ['expired', { status: 'expired', exception: 'none' }],
    ['replaced', { status: 'completed', exception: 'none' }],
    ['reorged', { status: 'completed', exception: 'reorged' }],
  ] as const;
  await Promise.all(
    ends.map(async ([simulation, end]) => {
      const order = await app.pay();
      expect(await cointill.json('payment', 'simulate', publicPaymentId(order), simulation)).toMatchObject(end);
    }),
  );
});

it('shows a payment on its way: stopped while it confirms, or a stage at a time', async () => {
  const { app, cointill } = await setUp();
  const [stopped, walking] = [await app.pay(), await app.pay()];
  const simulate = (order: Payment, ...words: string[]) =>
    cointill.json('payment', 'simulate', publicPaymentId(order), ...words);
  expect(await simulate(stopped, 'confirming')).toMatchObject({ status: 'confirming', exception: 'none' });
  expect(await simulate(walking, 'paid', '--stages', '3')).toMatchObject({ status: 'processing' });
  const { completesAt } = await app.read(walking.id);
  expect(completesAt).not.toBe(null);
  const refused = await cointill.run('payment', 'simulate', publicPaymentId(stopped), 'late', '--stages', '3');
  expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('--stages works only with paid or over') });
  const id = publicPaymentId(stopped);
  expect(await cointill.run('payment', 'simulate', id, 'late')).toEqual({
    code: 1,
    stdout: '',
    stderr: `${id} is confirming, so this outcome is not possible. All of the money arrived in time. Possible outcomes now: paid, over, reorged.\n`,
  });
});

it('says that simulated money came on top where the payment had ended', async () => {
  const { app, cointill } = await setUp();
  const [open, ended] = [await app.pay(), await app.pay()];
  expect((await cointill.run('payment', 'simulate', publicPaymentId(open), 'part')).stderr).toBe('');
  await completeSandboxPayment(app, { id: ended.id });
  const { code, stderr } = await cointill.run('payment', 'simulate', publicPaymentId(ended), 'part');
  expect({ code, stderr }).toEqual({
    code: 0,
    stderr:
      'Note: the payment was already completed when this money arrived. The payment is now completed, overpaid.\n',
  });
});

it('accepts money that came late, and cancels a payment without any', async () => {
  const { app, cointill } = await setUp();
  const [late, unpaid] = [await app.pay(), await app.pay()];
  await simulatePayment(app, { id: late.id }, 'late');
  const [accepted, cancelled] = await Promise.all([
    cointill.json('payment', 'accept', publicPaymentId(late)),
    cointill.json('payment', 'cancel', publicPaymentId(unpaid)),
  ]);
  expect(accepted).toMatchObject({ id: publicPaymentId(late), status: 'completed', exception: 'paid_late' });
  expect(cancelled).toMatchObject({
    id: publicPaymentId(unpaid),
    status: 'cancelled',
    cancelled_at: expect.any(String),
  });
});

it('says why it refuses and what is possible, and changes nothing', async () => {
  const { app, cointill } = await setUp();
  const [open, underpaid, finished] = [await app.pay(), await app.pay(), await app.pay()];
  const live = await app.pay({ mode: 'live' });
  const other = await app.pay(transaction);
  await simulatePayment(app, { id: underpaid.id }, 'part');
  await completeSandboxPayment(app, { id: finished.id });
  const refused = [
    [
      ['accept', publicPaymentId(open)],
      `${publicPaymentId(open)} is pending and cannot be accepted. Only a payment that expired`,
    ],
    [['cancel', publicPaymentId(underpaid)], '(0.00083333 BTC, confirmed), so this payment cannot be cancelled.'],
    [['complete', publicPaymentId(finished)], `${publicPaymentId(finished)} is already completed.`],
    [['complete', publicPaymentId(live)], 'is a live payment, and only test payments can be completed by hand.'],
    [['show', publicPaymentId({ id: other.id, api: 'order' })], 'There is no payment ord_'],
    [['cancel', '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'], 'There is no payment 0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b.'],
  ] as const;
  await Promise.all(
    refused.map(async ([args, message]) => {
      const ended = await cointill.run('payment', ...args, '--json');
      expect(ended).toEqual({ code: 1, stdout: '', stderr: expect.stringContaining(message) });
    }),
  );
  expect(await app.read(open.id)).toEqual(open);
  expect(await app.read(live.id)).toEqual(live);
});

it('lists payments of all projects, modes and both APIs, the newest first, and narrows and pages', async () => {
  const { app, cointill } = await setUp();
  const second = await createProject(app, 'Second');
  if (second.kind !== 'done') throw new Error(second.code);
  const made = [];
  const anna = { mode: 'live' as const, customerEmail: 'Anna.Schmidt@example.com', amountMinor: 4_990n };
  for (const overrides of [{}, transaction, anna, { projectId: second.project.id }]) {
    app.clock.advance(1_000);
    made.unshift(publicPaymentId(await app.pay(overrides)));
  }
  const ids = async (...args: readonly string[]): Promise<readonly string[]> => {
    const payments = await cointill.json('payment', 'list', ...args);
    if (!Array.isArray(payments)) throw new Error('not a list');
    return payments.map((payment) => textAt(payment, 'id'));
  };
  const [all, page, narrowed, ofStatus, found] = await Promise.all([
    ids(),
    ids('--limit', '2', '--offset', '1'),
    ids('--project', app.projectId, '--mode', 'test', '--surface', 'order'),
    ids('--status', 'created,completed'),
    ids('--search', 'schm 49,90'),
  ]);
  const [, ofLive, ofTransaction, oldest] = made;
  expect(all).toEqual(made);
  expect(page).toEqual([ofLive, ofTransaction]);
  expect(narrowed).toEqual([oldest]);
  expect(ofStatus).toEqual([ofTransaction]);
  expect(found).toEqual([ofLive]);
});

it('lists payments as a table, and refuses unknown statuses and projects', async () => {
  const { app, cointill } = await setUp();
  const { id } = await app.pay({ ...transaction, merchantOrderId: 'SHOP-1' });
  const [table, badStatus, unknownProject] = await Promise.all([
    cointill.run('payment', 'list'),
    cointill.run('payment', 'list', '--status', 'paid'),
    cointill.run('payment', 'list', '--project', '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b'),
  ]);
  expect(table.stdout).toMatch(/^PAYMENT +CREATED +MODE +STATUS +EXCEPTION +AMOUNT +TO PAY +ORDER ID\n/);
  expect(table.stdout).toMatch(new RegExp(`\n${id} +\\S+Z +test +created +- +100 USD +- +SHOP-1\n$`));
  expect(badStatus).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--status: "paid" is not one of created'),
  });
  expect(unknownProject).toMatchObject({ code: 1, stderr: expect.stringContaining('There is no project 0198a1b2') });
});

it('exports what came in, and reconciles it, by the same rules as the dashboard', async () => {
  const { app, cointill } = await setUp();
  const order = await app.pay({ merchantOrderId: '=1+1' });
  await simulatePayment(app, { id: order.id }, 'paid');
  const of = ['--project', app.projectId, '--mode', 'test', '--period', 'this_year'] as const;
  const statementOf = (...days: readonly string[]) =>
    cointill.run('report', 'statement', '--project', app.projectId, ...days);
  const [file, statement, ...refused] = await Promise.all([
    cointill.run('report', 'export', ...of, '--report', 'transfers'),
    cointill.json('report', 'statement', ...of),
    statementOf('--from', '2026-02-30', '--to', '2026-03-01'),
    statementOf('--from', '2026-01-01', '--to', '9999-12-31'),
    statementOf('--zone', '+05:00'),
  ]);
  expect(file.stdout.split('\n')).toEqual([
    expect.stringMatching(/^payment,order id,received \(UTC\),/),
    expect.stringContaining(`${publicPaymentId(order)},'=1+1,`),
    '',
  ]);
  expect(statement).toMatchObject({ verdict: 'balanced', tokens: [{ coin: 'BTC', received: '0.00166667' }] });
  expect(refused.map(({ code, stderr }) => [code, stderr])).toEqual([
    [2, expect.stringContaining('--from must be a day such as 2026-01-31.')],
    [2, expect.stringContaining('--to must be a day between 1971-01-01 and 9990-12-31.')],
    [2, expect.stringContaining('--zone must be the name of a time zone, such as Europe/Berlin.')],
  ]);
});

it('writes bookings for accounting software, and says their sums and what DATEV still needs', async () => {
  const { app, cointill } = await setUp();
  const order = await app.pay({ merchantOrderId: 'SHOP-1' });
  await simulatePayment(app, { id: order.id }, 'paid');
  const of = ['--project', app.projectId, '--mode', 'test', '--period', 'this_month'] as const;
  const [xero, datev, unknown] = await Promise.all([
    cointill.run('report', 'bookings', ...of, '--format', 'xero'),
    cointill.run('report', 'bookings', ...of, '--format', 'datev'),
    cointill.run('report', 'bookings', ...of, '--format', 'csv'),
  ]);
  expect(readXero(Buffer.from(xero.stdout))).toMatchObject([{ cents: 10_000n, reference: 'SHOP-1' }]);
  expect(xero.stderr).toBe('receipt: 0.00166667 BTC on bitcoin, 100 USD, 1 entries\n');
  expect(datev).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringContaining('on the page Settings under “DATEV”'),
  });
  expect(unknown).toMatchObject({ code: 2, stderr: expect.stringContaining('datev, xero') });
});

it('advances the time of a test payment by the command, and says what happened', async () => {
  const { app, cointill } = await setUp();
  const payment = await app.pay();
  const id = publicPaymentId(payment);
  const at = new Date(payment.createdAt + 60_000).toISOString();
  const none = await cointill.json('payment', 'advance', id, '--by', 'PT1S');
  expect(none).toEqual({ now: expect.any(String), moments: [], events: [], final: false });
  const { code, stdout } = await cointill.run('payment', 'advance', id);
  expect({ code, lines: stdout.split('\n').slice(1) }).toEqual({
    code: 0,
    lines: [
      `${at}  order completed  ${id}`,
      `It is now ${at} for ${id}. Nothing of it happens by itself any more.`,
      '',
    ],
  });
  const wrong = await cointill.run('payment', 'advance', id, '--by', '61');
  expect(wrong).toMatchObject({ code: 2, stderr: expect.stringContaining('such as PT61M') });
  const over = await cointill.run('payment', 'advance', id);
  expect(over).toMatchObject({ code: 1, stderr: expect.stringContaining(`${id} is completed, and nothing of it`) });
});
