import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { textOf } from '../../src/http/pages/markup.fixture.ts';
import { textAt } from '../../src/cli/program.fixture.ts';
import { eventually, testService } from '../program.ts';

/** The code blocks of the page, as somebody who copies them gets them. */
function blocksOf(page: string): readonly { readonly tag: string; readonly code: string }[] {
  return [...page.matchAll(/<pre([^>]*)><code>([^]*?)<\/code><\/pre>/g)].map(([, tag = '', code = '']) => ({
    tag,
    // Line by line, because text read from markup has its white space collapsed.
    code: code
      .split('\n')
      .map((line) => textOf(line.replaceAll(' ', '&#160;')).replaceAll('\u00a0', ' '))
      .join('\n'),
  }));
}

it('every request that the documentation shows can be copied into a shell and succeeds', async () => {
  const service = await testService({ SANDBOX_COMPLETE_AFTER_SECONDS: '600' });
  const { first } = await service.start();
  if (first === null) throw new Error('The first start made no key.');
  const read = async (path: string) => (await fetch(`${service.live}${path}`)).text();
  const page = `${await read('/docs')}${await read('/docs/api')}`;
  const requests = new Map(
    blocksOf(page).flatMap(({ tag, code }) => {
      const name = /data-curl="([^"]+)"/.exec(tag)?.[1];
      return name === undefined ? [] : [[name, code] as const];
    }),
  );
  const left = new Set(requests.keys());
  const run = async (name: string, ids: Readonly<Record<string, string>> = {}): Promise<unknown> => {
    left.delete(name);
    const command = `${requests.get(name)} -s -w '\n%{http_code}'`;
    const env = { ...process.env, KEY: first.key, PROJECT_ID: first.projectId, ...ids };
    const { stdout } = await promisify(execFile)('sh', ['-c', command], { env });
    const [body = '', status] = stdout.trim().split(/\n(?=\d{3}$)/);
    expect([name, status, body]).toEqual([name, '200', body]);
    return JSON.parse(body);
  };
  const order = async () => textAt(await run('createOrder'), 'id');
  const transaction = async () => textAt(Reflect.get(Object(await run('createTransaction')), 'transaction'), 'id');
  const simulate = (id: string, outcome: string) => service.command(`payment simulate ${id} ${outcome}`);

  const ORDER_ID = textAt(await run('quickstart-create'), 'id');
  expect(await run('quickstart-read', { ORDER_ID })).toMatchObject({ id: ORDER_ID, status: 'pending' });
  await run('example-choose');
  const [once, again] = [await run('example-retry'), await run('example-retry')];
  expect(again).toEqual(once);
  await simulate(ORDER_ID, 'paid');
  const REFUND_ID = textAt(await run('example-refund', { ORDER_ID }), 'id');
  expect(await run('getRefund', { REFUND_ID })).toMatchObject({ id: REFUND_ID });
  expect(await run('cancelRefund', { REFUND_ID })).toMatchObject({ id: REFUND_ID, status: 'failed' });
  await run('createRefund', { ORDER_ID });
  expect(await run('listRefunds')).toMatchObject({ data: [expect.anything(), expect.anything()] });

  await run('getOrder', { ORDER_ID });
  await run('listOrders');
  expect(await run('cancelOrder', { ORDER_ID: await order() })).toMatchObject({ status: 'cancelled' });
  const late = { ORDER_ID: await order(), TRANSACTION_ID: await transaction() };
  for (const id of Object.values(late)) await simulate(id, 'late');
  expect(await run('acceptOrder', late)).toMatchObject({ status: 'completed' });
  expect(await run('acceptTransaction', late)).toMatchObject({ transaction: { status: 'completed' } });
  expect(await run('getTransaction', late)).toMatchObject({ transaction: { id: late.TRANSACTION_ID } });
  await run('cancelTransaction', { TRANSACTION_ID: await transaction() });
  await run('listTransactions');
  await run('getStatistics');
  expect(await run('simulateOrder', { ORDER_ID: await order() })).toMatchObject({ status: 'completed' });
  await run('simulateTransaction', { TRANSACTION_ID: await transaction() });
  expect(await run('advanceOrder', { ORDER_ID: await order() })).toMatchObject({
    moments: [{ what: 'order completed' }],
  });
  await run('advanceTransaction', { TRANSACTION_ID: await transaction() });
  const invoice = async () => textAt(await run('createInvoice'), 'id');
  const INVOICE_ID = await invoice();
  expect(await run('getInvoice', { INVOICE_ID })).toMatchObject({ id: INVOICE_ID });
  await run('listInvoices');
  expect(await run('cancelInvoice', { INVOICE_ID })).toMatchObject({ status: 'cancelled' });
  expect(await run('completeInvoice', { INVOICE_ID: await invoice() })).toMatchObject({ status: 'completed' });
  expect(await run('simulateInvoice', { INVOICE_ID: await invoice() })).toMatchObject({ status: 'completed' });
  await run('advanceInvoice', { INVOICE_ID: await invoice() });
  const lateInvoice = { INVOICE_ID: await invoice() };
  await simulate(lateInvoice.INVOICE_ID, 'late');
  expect(await run('acceptInvoice', lateInvoice)).toMatchObject({ status: 'completed' });
  const PAYMENT_REQUEST_ID = textAt(await run('createPaymentRequest'), 'id');
  await run('listPaymentRequests');
  expect(await run('getPaymentRequest', { PAYMENT_REQUEST_ID })).toMatchObject({ id: PAYMENT_REQUEST_ID });
  expect(await run('closePaymentRequest', { PAYMENT_REQUEST_ID })).toMatchObject({ status: 'closed' });
  await service.command(
    `webhook create --project ${first.projectId} --mode test --events all --url http://127.0.0.1:9/`,
  );
  const log = await eventually('the events have positions', async () => {
    const read = (await run('listEvents')) as { readonly data: readonly { readonly event: { readonly id: string } }[] };
    return read.data.length > 0 ? read : null;
  });
  const EVENT_ID = log.data[0]?.event.id ?? '';
  expect(await run('getEvent', { EVENT_ID })).toMatchObject({ event: { id: EVENT_ID } });
  await run('resendEvent', { EVENT_ID });
  expect([...left]).toEqual([]);

  const check = blocksOf(page).find(({ code }) => code.includes("from 'node:crypto'"));
  const { isGenuine } = (await import(`data:text/javascript,${encodeURIComponent(check?.code ?? '')}`)) as {
    readonly isGenuine: (body: Buffer, signature: string, secret: string) => boolean;
  };
  const [body, secret] = [Buffer.from('{"id":"evt_1"}'), 'whsec_c2VjcmV0'];
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  expect(isGenuine(body, signature, secret)).toBe(true);
  expect(isGenuine(body, signature.toUpperCase(), secret)).toBe(false);
  expect(isGenuine(body, '', secret)).toBe(false);
});
