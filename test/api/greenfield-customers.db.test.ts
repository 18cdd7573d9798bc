import { sql } from 'kysely';
import { afterAll, expect, it } from 'vitest';
import { removeCustomerData } from '../../src/app/projects/customer-data.ts';
import { deliverAll, shop as receiver, webhookApp } from '../../src/app/webhooks/webhooks.fixture.ts';
import { createdInvoice, greenfield } from '../greenfield/store.ts';
import { httpTest } from '../http.ts';

const http = await httpTest();
afterAll(() => http.close());
const call = greenfield(http);

/** In everything that the plugin says of the customer. */
const WORD = 'zebrafinch';
const EMAIL = `anna@${WORD}.example`;

/** Every table of the database as text. */
async function dump(): Promise<string> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'`.execute(http.app.db);
  const texts = await Promise.all(
    tables.map(({ name }) =>
      sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(http.app.db),
    ),
  );
  return texts.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n');
}

it('after the deletion of a customer, a dump of the database has nothing that a shop said of them but the order number', async () => {
  const shop = await http.shop();
  const hook = await receiver((response, { body }) => void response.end(body));
  await call(shop, { path: '/webhooks', body: { url: hook.url } });
  const invoice = await createdInvoice(call, shop, {
    metadata: {
      orderId: 'WC-4711',
      buyerEmail: ` ${EMAIL} `,
      buyerName: `Anna ${WORD}`,
      buyerCity: WORD,
      itemDesc: `Tea for ${WORD}`,
      posData: { note: [WORD] },
      [WORD]: true,
    },
    checkout: { redirectURL: `https://shop.example/thanks?who=${WORD}` },
  });
  await shop.call({ path: `/v1/invoices/${invoice.id}/simulate`, body: { outcome: 'paid' } });
  const refund = { name: `Refund of order WC-4711; ${WORD} changed her mind`, amount: '5', currency: 'EUR' };
  expect((await call(shop, { path: '/pull-payments', body: refund })).status).toBe(200);
  const webhooks = await webhookApp({ app: http.app, sealingKeys: http.webhooks.sealingKeys });
  await deliverAll(http.app, webhooks.deliverer());
  expect(hook.requests.length).toBeGreaterThan(3);
  expect(await dump()).toContain(WORD);

  const choice = { email: EMAIL };
  expect((await removeCustomerData(http.app, shop.projectId, choice, null)).kind).toBe('done');
  const left = await dump();
  expect(left).not.toContain(WORD);
  expect(left).toContain('WC-4711');
  const { body } = await call(shop, { path: `/invoices/${invoice.id}` });
  expect(body).toMatchObject({ status: 'Settled', metadata: { orderId: 'WC-4711' } });
});
