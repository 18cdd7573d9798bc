import { expect, it } from 'vitest';
import { totalsOf } from './invoice-document.ts';
import { INVOICE_LIMITS, parseInvoice, type DraftItem, type InvoiceDraft } from './parse-invoice.ts';

const ITEM: DraftItem = { description: 'Espresso beans', quantity: '1.5', unitMinor: 1_999n, vatRate: '7' };
const DRAFT: InvoiceDraft = {
  issuedOn: '2026-01-31',
  suppliedOn: '2026-01-30',
  dueOn: '2026-02-14',
  seller: { lines: ['Café Nord GmbH', 'Hafenstraße 1', '20457 Hamburg'], taxId: 'DE123456789' },
  buyer: { lines: ['Ann Example'], taxId: null },
  currency: 'EUR',
  pricesIncludeTax: false,
  items: [ITEM, { ...ITEM, quantity: '3', vatRate: '19' }],
  note: 'Thank you.',
};

/** The faults of a draft: field and rule. */
function faultsOf(change: Partial<InvoiceDraft>): readonly string[] {
  const parsed = parseInvoice({ ...DRAFT, ...change });
  return parsed.kind === 'ok' ? [] : parsed.faults.map(({ field, rule }) => `${field} ${rule}`);
}
const itemFaults = (change: Partial<DraftItem>): readonly string[] =>
  faultsOf({ items: [ITEM, { ...ITEM, ...change }] });

it('a draft is read into exact numbers, and its sums follow EN 16931', () => {
  const parsed = parseInvoice(DRAFT);
  if (parsed.kind === 'invalid') throw new Error(JSON.stringify(parsed.faults));
  expect(parsed.invoice.items[0]).toEqual({
    description: 'Espresso beans',
    quantity: 1_500n,
    unitMinor: 1_999n,
    rate: 700,
  });
  // 1.5 × 19.99 = 29.985, half up.
  expect(totalsOf(parsed.invoice.items, false)).toEqual({
    amounts: [2_999n, 5_997n],
    rates: [
      { rate: 1_900, net: 5_997n, vat: 1_139n, gross: 7_136n },
      { rate: 700, net: 2_999n, vat: 210n, gross: 3_209n },
    ],
    net: 8_996n,
    vat: 1_349n,
    gross: 10_345n,
  });
  expect(totalsOf(parsed.invoice.items, true)).toMatchObject({ net: 7_842n, vat: 1_154n, gross: 8_996n });
});

it('VAT is rounded once for each rate, not for each item', () => {
  const items = Array.from({ length: 3 }, () => ({ description: 'Pin', quantity: 1_000n, unitMinor: 2n, rate: 1_900 }));
  expect(totalsOf(items, false).vat).toBe(1n);
});

it.each(['-1', '101', '100.01', '7.125', '1e1', '', ' 7', 'NaN', '7,5', '07'])(
  'a VAT rate of “%s” is refused',
  (vatRate) => {
    expect(itemFaults({ vatRate })).toEqual(['items.1.vat_rate vat_rate']);
  },
);

it.each(['0', '-1', '1.0005', '1,5', '', '1e3', '9'.repeat(5_000), `1.${'0'.repeat(30)}1`])(
  'a quantity of “%s” is refused',
  (quantity) => {
    expect(itemFaults({ quantity })).toEqual(['items.1.quantity quantity']);
  },
);

it('a quantity is at most 999,999,999, also of what costs nothing', () => {
  const free = { unitMinor: 0n, quantity: '999999999' };
  expect(itemFaults(free)).toEqual([]);
  for (const quantity of ['999999999.001', '1000000000'])
    expect(itemFaults({ ...free, quantity })).toEqual(['items.1.quantity quantity']);
});

it('rates from 0 to 100 with two decimals are taken', () => {
  for (const vatRate of ['0', '100', '5.5', '8.1', '0.01', '99.99']) expect(itemFaults({ vatRate })).toEqual([]);
});

it('no price, item or sum is more than a payment can be, nor less than nothing', () => {
  expect(itemFaults({ unitMinor: -1n })).toEqual(['items.1.unit_minor too_little']);
  expect(itemFaults({ unitMinor: 10n ** 30n })).toEqual(['items.1.unit_minor too_much']);
  expect(itemFaults({ quantity: '999999999', unitMinor: 100_000_000n })).toEqual(['items.1 too_much']);
  expect(itemFaults({ quantity: '1', unitMinor: 100_000_000n, vatRate: '0' })).toEqual(['items too_much']);
  expect(itemFaults({ quantity: '1', unitMinor: 99_996_791n, vatRate: '0' })).toEqual([]);
  expect(itemFaults({ quantity: '1', unitMinor: 99_996_792n, vatRate: '0' })).toEqual(['items too_much']);
  expect(faultsOf({ items: [{ ...ITEM, unitMinor: 0n }] })).toEqual(['items too_little']);
});

it('every text of 5,000 characters is refused under its own name, as are those without a visible character', () => {
  const long = 'W'.repeat(5_000);
  expect(
    faultsOf({
      seller: { lines: ['Shop', long], taxId: long },
      buyer: { lines: [long], taxId: '\u202E\u200F' },
      items: [
        { ...ITEM, description: long },
        { ...ITEM, description: ' \u2800' },
      ],
      note: long,
      currency: 'XYZ',
    }),
  ).toEqual([
    'seller.lines.1 too_long',
    'seller.tax_id too_long',
    'buyer.lines.0 too_long',
    'buyer.tax_id empty',
    'note too_long',
    'currency currency',
  ]);
  expect(itemFaults({ description: long })).toEqual(['items.1.description too_long']);
  expect(itemFaults({ description: '\u2800 ' })).toEqual(['items.1.description empty']);
  for (const description of ['a\0b', 'a\uD800'])
    expect(itemFaults({ description })).toEqual(['items.1.description characters']);
});

it('markup and marks of direction are taken as text', () => {
  const text = '<b onload=alert(1)>‏%PDF-1.7 (a) Tj\\ endobj & \u202Egnp';
  expect(itemFaults({ description: text })).toEqual([]);
  expect(faultsOf({ note: text, seller: { lines: [text], taxId: null } })).toEqual([]);
});

it('limits themselves are taken: of characters, lines, items and the least sum', () => {
  const { partyLines, line, taxId, items, description, note } = INVOICE_LIMITS;
  const party = { lines: Array.from({ length: partyLines }, () => 'W'.repeat(line)), taxId: 'W'.repeat(taxId) };
  const free = { ...ITEM, description: 'W'.repeat(description), unitMinor: 0n };
  const cent = { ...ITEM, quantity: '1', unitMinor: 1n, vatRate: '0' };
  expect(
    faultsOf({
      seller: party,
      buyer: party,
      items: [cent, ...Array.from({ length: items - 1 }, () => free)],
      note: 'W'.repeat(note),
    }),
  ).toEqual([]);
});

it('an unknown currency is refused', () => {
  expect(parseInvoice({ ...DRAFT, currency: 'XYZ' })).toEqual({
    kind: 'invalid',
    faults: [{ field: 'currency', rule: 'currency' }],
  });
});

it('there are items and lines of the seller, and only so many', () => {
  expect(faultsOf({ items: [] })).toEqual(['items empty']);
  expect(faultsOf({ items: Array.from({ length: INVOICE_LIMITS.items + 1 }, () => ITEM) })).toEqual(['items too_many']);
  expect(faultsOf({ seller: { lines: [], taxId: null } })).toEqual(['seller.lines empty']);
  expect(faultsOf({ seller: { lines: Array.from({ length: 11 }, () => 'Line'), taxId: null } })).toEqual([
    'seller.lines too_many',
  ]);
});

it('days are days of the calendar, and none is due before it is issued', () => {
  for (const issuedOn of [
    '2026-02-29',
    '2026-13-01',
    '31.1.2026',
    '',
    '2026-01',
    '2026-01-31T00:00',
    'x'.repeat(5_000),
  ]) {
    expect(faultsOf({ issuedOn })).toEqual(['issued_on day']);
  }
  expect(faultsOf({ issuedOn: '2028-02-29', dueOn: '2028-02-29' })).toEqual([]);
  expect(faultsOf({ dueOn: '2026-01-30' })).toEqual(['due_on before_issue']);
  expect(faultsOf({ suppliedOn: 'yesterday' })).toEqual(['supplied_on day']);
});

it('supply is at most ten years before or after the date of the invoice, and the due date ten years after it', () => {
  expect(faultsOf({ suppliedOn: '2016-01-31', dueOn: '2036-01-31' })).toEqual([]);
  expect(faultsOf({ suppliedOn: '2036-01-31' })).toEqual([]);
  expect(faultsOf({ suppliedOn: '2016-01-30', dueOn: '2036-02-01' })).toEqual([
    'supplied_on far_supply',
    'due_on far_due',
  ]);
  expect(faultsOf({ suppliedOn: '2036-02-01' })).toEqual(['supplied_on far_supply']);
  expect(faultsOf({ suppliedOn: '0001-01-01', dueOn: '9999-12-31' })).toHaveLength(2);
  expect(faultsOf({ issuedOn: '2028-02-29', suppliedOn: null, dueOn: '2038-02-28' })).toEqual([]);
});
