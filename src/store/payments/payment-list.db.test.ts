import * as fc from 'fast-check';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { allTokens } from '../../domain/asset.ts';
import { EXCEPTIONS, PAYMENT_APIS, type Payment } from '../../domain/payment.ts';
import { FIATS, greatestAmountMinor } from '../../domain/money.ts';
import { PAYMENT_STATUSES } from '../../domain/status.ts';
import { ENDED_STATUSES } from './payment-keys.ts';
import { findPayments } from './payments.ts';
import { NO_FILTERS, type PaymentSearch } from './payment-filter.ts';
import { searchPayments } from './payment-list.ts';
import { wordsOf, type SearchTerm } from './search-words.ts';

const EMAILS = ['Ann@Example.com', 'ben@example.com', null] as const;
const ORDER_IDS = ['A-1', 'A-2', null] as const;
const DESCRIPTIONS = ['Tea for two', 'TEA', 'Coffee', `${'Tea '.repeat(10)}and more`, null] as const;
const AMOUNTS = [1n, 7n, 99n, 100n, 2_500n, 2_549n, 2_550n, 100_000_000n] as const;
const CURRENCIES = ['USD', 'EUR', 'JPY'] as const;

/** Payments of every kind at different times, and the same many of another project and of live mode. */
async function manyPayments(app: TestApp): Promise<readonly Payment[]> {
  const tokens = await app.railFor('test').tokens(app.projectId);
  const ids: string[] = [];
  for (let n = 0; n < 120; n += 1) {
    const api = PAYMENT_APIS[n % 2] ?? 'order';
    const token = tokens[n % tokens.length] ?? null;
    const { id } = await app.pay({
      api,
      token: api === 'transaction' && n % 4 === 0 ? null : token,
      customerEmail: EMAILS[n % 3] ?? null,
      merchantOrderId: ORDER_IDS[n % 5] ?? null,
      description: DESCRIPTIONS[n % 7] ?? null,
    });
    ids.push(id);
    if (n % 3 === 0) app.clock.advance(1_000);
  }
  await sql`
    update payments p set
      status = (${[...PAYMENT_STATUSES]}::text[])[1 + (n * 7) % ${PAYMENT_STATUSES.length}],
      exception = (${[...EXCEPTIONS]}::text[])[1 + (n * 3) % ${EXCEPTIONS.length}],
      amount_minor = (${[...AMOUNTS]}::bigint[])[1 + (n * 5) % ${AMOUNTS.length}],
      currency = (${[...CURRENCIES]}::text[])[1 + n % ${CURRENCIES.length}]
    from (select id, row_number() over (order by id) as n from payments) numbered where numbered.id = p.id`.execute(
    app.db,
  );
  const label = '00000000-0000-7000-8000-00000000000b';
  await sql`insert into labels values (${label}, ${app.projectId}, 'VIP', now())`.execute(app.db);
  await sql`insert into payment_labels select id, ${label}, mode from payments where merchant_order_id = 'A-1'`.execute(
    app.db,
  );
  return (await findPayments(app.db, ids)).toSorted((a, b) => (a.id < b.id ? 1 : -1));
}

function hasTerm(payment: Payment, { words, amounts, keys }: SearchTerm): boolean {
  const { merchantOrderId, customerEmail, description, transactionNumber, transactionHash, quote } = payment;
  const label = merchantOrderId === 'A-1' ? 'VIP' : null;
  const texts = [
    merchantOrderId,
    customerEmail,
    description,
    transactionNumber,
    transactionHash,
    quote?.address,
    label,
  ];
  const isWhole = words.length === 1 && words[0]?.length === 1;
  const wanted = ` ${words.join(' ')}${isWhole ? ' ' : ''}`;
  return (
    texts.some((text) =>
      ` ${wordsOf(text ?? '').join(' ')} `.replaceAll(' 0x', ' ').includes(wanted.replace(' 0x', ' ')),
    ) ||
    amounts.some((one) => one.currency === payment.currency && one.minor === payment.amountMinor) ||
    keys.some((key) => key.kind === 'id' && key.api === payment.api && key.from <= payment.id && payment.id <= key.to)
  );
}

function matches(payment: Payment, search: PaymentSearch): boolean {
  const { quote } = payment;
  const holds = [
    search.statuses?.includes(payment.status),
    search.exceptions?.includes(payment.exception),
    search.api === null ? undefined : search.api === payment.api,
    search.tokens?.some((one) => one.asset === quote?.asset && one.network === quote.network),
    search.createdFrom === null ? undefined : payment.createdAt >= search.createdFrom,
    search.createdBefore === null ? undefined : payment.createdAt < search.createdBefore,
    search.amounts?.some(
      ({ currencies, fromMinor, toMinor }) =>
        currencies.includes(payment.currency) && fromMinor <= payment.amountMinor && payment.amountMinor <= toMinor,
    ),
    search.label === null ? undefined : payment.merchantOrderId === 'A-1',
    search.customerEmail === null
      ? undefined
      : payment.customerEmail?.toLowerCase() === search.customerEmail.toLowerCase(),
    search.terms?.every((term) => hasTerm(payment, term)),
  ];
  return holds.every((held) => held !== false);
}

it('any filters give, page by page, exactly the payments of this project and mode that they mean, newest first', async () => {
  const app = await testApp();
  const payments = await manyPayments(app);
  const [first, last] = [payments.at(-1)?.createdAt ?? 0, payments[0]?.createdAt ?? 0];
  const or = <Value>(value: fc.Arbitrary<Value>) => fc.option(value, { nil: null, freq: 2 });
  const when = or(fc.integer({ min: first - 1_000, max: last + 1_000 }));
  const amounts = fc
    .tuple(fc.constantFrom(0n, ...AMOUNTS), fc.constantFrom(...AMOUNTS, 200_000_000n), fc.subarray([...CURRENCIES]))
    .map(([fromMinor, toMinor, currencies]) => ({ fromMinor, toMinor, currencies }));
  const typed = (words: string, rest: Partial<SearchTerm> = {}): SearchTerm => ({
    words: wordsOf(words),
    amounts: [],
    keys: [],
    ...rest,
  });
  const piece = fc.integer({ min: 4, max: 70 });
  const of = fc.constantFrom(...payments);
  const term = fc.oneof(
    fc
      .tuple(of, fc.constantFrom(...PAYMENT_APIS))
      .map(([{ id }, api]) => typed('zzz', { keys: [{ kind: 'id', from: id, to: id, api }] })),
    fc
      .constantFrom(
        'TXN-2026-1',
        'TXN',
        '2026-4',
        'A-1',
        'a-2',
        'a',
        'A',
        '1',
        'ann@exa',
        'BEN',
        'exam',
        'ample',
        'vip',
        'VI',
      )
      .map((text) => typed(text)),
    fc.constantFrom('tea', 'Te', 't', 'for', 'TWO', 'cof', 'more', 'and-more', 'tea.for').map((text) => typed(text)),
    fc.tuple(of, piece).map(([{ quote }, end]) => typed(quote?.address.toUpperCase().slice(0, end) ?? 'none')),
    fc.tuple(of, piece).map(([{ transactionHash }, end]) => typed(transactionHash?.slice(0, end) ?? 'none')),
    fc
      .constantFrom(...AMOUNTS)
      .map((minor) => typed('zzz', { amounts: CURRENCIES.map((currency) => ({ currency, minor })) })),
  );
  const some = fc.record({
    statuses: or(fc.subarray([...PAYMENT_STATUSES], { minLength: 1 })),
    exceptions: or(fc.subarray([...EXCEPTIONS], { minLength: 1 })),
    api: or(fc.constantFrom(...PAYMENT_APIS)),
    tokens: or(fc.subarray([...allTokens()], { minLength: 1, maxLength: 6 })),
    createdFrom: when,
    createdBefore: when,
    amounts: or(fc.array(amounts, { minLength: 1, maxLength: 2 })),
    label: fc.option(fc.constant('vip'), { nil: null, freq: 1 }),
    customerEmail: fc.option(fc.constantFrom('ann@example.COM', 'Ben@example.com', 'ann%'), { nil: null, freq: 1 }),
    terms: or(fc.array(term, { minLength: 1, maxLength: 3 })),
  });
  const searches = some.map((search): PaymentSearch => ({ ...NO_FILTERS, ...search }));
  await fc.assert(
    fc.asyncProperty(searches, fc.integer({ min: 1, max: 50 }), async (search, limit) => {
      const found: Payment[] = [];
      for (let after: string | null = null; ; after = found.at(-1)?.id ?? null) {
        const page = await searchPayments(app.db, { projectId: app.projectId, mode: 'test' }, search, { after, limit });
        found.push(...page);
        if (page.length < limit) break;
      }
      expect(found).toEqual(payments.filter((payment) => matches(payment, search)));
    }),
    { numRuns: 150 },
  );
});

it('the greatest amounts of a currency are found by their amount', async () => {
  const app = await testApp();
  const { id } = await app.pay();
  await sql`update payments set currency = 'INR', amount_minor = 9999999999, status = 'expired' where id = ${id}`.execute(
    app.db,
  );
  const { projectId, db } = app;
  const amounts = [{ currencies: FIATS, fromMinor: 100_000_000n, toMinor: greatestAmountMinor(FIATS) }];
  const page = { after: null, limit: 10 };
  const found = await searchPayments(db, { projectId, mode: 'test' }, { ...NO_FILTERS, amounts }, page);
  expect(found.map((one) => one.id)).toEqual([id]);
});

it('nothing of another project or mode is found by any term', async () => {
  const app = await testApp();
  const { id } = await app.pay({ customerEmail: 'ann@example.com', merchantOrderId: 'A-1' });
  const terms = [
    { words: ['zzz'], amounts: [], keys: [{ kind: 'id', from: id, to: id, api: 'order' }] },
    { words: ['a', '1'], amounts: [], keys: [] },
    { words: ['ann', 'example'], amounts: [], keys: [] },
  ] as const;
  const other = '00000000-0000-7000-8000-000000000000';
  const scopes = [
    { projectId: app.projectId, mode: 'test' },
    { projectId: app.projectId, mode: 'live' },
    { projectId: other, mode: 'test' },
  ] as const;
  const found = await Promise.all(
    scopes.map((scope) => searchPayments(app.db, scope, { ...NO_FILTERS, terms }, { after: null, limit: 50 })),
  );
  expect(found.map((page) => page.map((payment) => payment.id))).toEqual([[id], [], []]);
});

it('a payment that has not ended is written to no index of the search but that of its status', async () => {
  const app = await testApp();
  const { rows } = await sql<{ name: string; definition: string }>`
    select indexname as name, indexdef as definition from pg_indexes where tablename = 'payments'`.execute(app.db);
  const ended = rows.filter(({ name }) => name.startsWith('payments_ended_'));
  const statuses = ended.map(({ definition }) => {
    const [, list = ''] = /status = ANY \(ARRAY\[([^\]]*)\]/.exec(definition) ?? [];
    return list.split(', ').map((literal) => literal.replace(/^'(\w+)'::text$/, '$1'));
  });
  expect(statuses).toEqual(Array.from({ length: 4 }, () => ENDED_STATUSES));
  // The indexes that creations pay for: another one needs a reason.
  expect(rows.filter((row) => !ended.includes(row)).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['payments_by_status', 'payments_by_time', 'payments_due', 'payments_pkey']),
  );
  // `payments_by_request`, `payments_living_by_request` and `payments_invoices_by_order` have invoices alone.
  expect(rows.length - ended.length).toBe(10);
});
