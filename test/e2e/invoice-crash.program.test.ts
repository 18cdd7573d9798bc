import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { readPdf } from '../../src/documents/pdf-text.fixture.ts';
import { freePort } from '../ports.ts';
import { browserAt, eventually, testService, type Answer } from '../program.ts';

const KILLS = 5;
const CLIENTS = 6;
/** How many invoices are issued before each blow. */
const BEFORE = 6;

type Ask = ReturnType<typeof browserAt>;

/** People who issue invoices one after another, each form until it is answered. */
function startLoad(ask: Ask, path: string) {
  const issued: Record<string, unknown>[] = [];
  const other: Answer['body'][] = [];
  let forms = 0;
  let isEnding = false;
  const work = async (): Promise<void> => {
    while (!isEnding) {
      forms += 1;
      const form = forms;
      await eventually(`form ${form} is answered`, async () => {
        const answer = await ask(path, invoice(form)).catch(() => null);
        if (answer === null || answer.status >= 500) return null;
        (answer.status === 200 ? issued : other).push(answer.body);
        return answer;
      });
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, work));
  const end = async (): Promise<void> => {
    isEnding = true;
    await clients;
  };
  return { issued, other, end };
}

/** Every third one is refused, because its VAT rate is none. */
function invoice(form: number) {
  const today = new Date().toISOString().slice(0, 10);
  const vat_rate = form % 3 === 0 ? '101' : '19';
  return {
    request: `form-number-${form}`,
    issued_on: today,
    supplied_on: '',
    due_on: today,
    buyer_lines: `Buyer ${form}`,
    buyer_tax_id: '',
    email: '',
    currency: 'EUR',
    prices_include_vat: false,
    items: [{ description: `Goods ${form}`, quantity: '1', price: '10', vat_rate }],
    note: '',
    language: 'en',
  };
}

it('numbers have no gap and each invoice has its PDF, although the service is killed five times while they are issued', async () => {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const service = await testService({ LOG_LEVEL: 'warn', DASHBOARD_URL: url, PORT: port });
  let running = await service.start();
  const ask = browserAt(url);
  const [, token = ''] = await running.running.waitFor(/\/dashboard\/setup\/([\w-]{43})/);
  const account = { token, email: 'mara@example.com', password: 'grumpy otter parade' };
  expect(await ask('/links/accept', account)).toMatchObject({ status: 200 });
  const project = `/projects/${running.first?.projectId}`;
  const settings = { prefix: 'INV-', seller_lines: 'Shop', seller_tax_id: '', vat_rate: '19', due_days: '14' };
  expect(await ask(`${project}/settings/invoices`, { ...settings, reminds: false })).toMatchObject({ status: 200 });

  const load = startLoad(ask, `${project}/test/invoice-documents`);
  for (let kill = 1; kill <= KILLS; kill += 1) {
    await eventually(`${kill * BEFORE} invoices are issued`, () => (load.issued.length >= kill * BEFORE ? true : null));
    await running.kill();
    running = await service.start();
  }
  await load.end();
  expect(load.other.length).toBeGreaterThan(0);

  const { db } = await service.openDatabase();
  const { rows } = await sql<{ number: string; counter: number }>`
    select number, counter
    from invoice_documents d order by counter`.execute(db);
  expect(rows.map(({ counter }) => counter)).toEqual(rows.map((_, at) => at + 1));
  // A repeated form issued nothing twice, and what was answered is there.
  expect(rows.map(({ number }) => number)).toEqual(load.issued.map(({ number }) => String(number)).toSorted());
  const texts = load.issued.map(async ({ id, number }) => {
    const answer = await fetch(`${service.sandbox}/request/${String(id)}/invoice.pdf`);
    expect(answer.status).toBe(200);
    const { pages } = await readPdf(new Uint8Array(await answer.arrayBuffer()));
    expect(pages.join('')).toContain(String(number));
  });
  await Promise.all(texts);
  expect((await running.stop()).code).toBe(0);
});
