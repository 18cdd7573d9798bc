import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { totalsOf, type InvoiceItem } from './invoice-document.ts';
import { FIATS, formatDecimal, maxAmountMinor } from './money.ts';
import { parseInvoice, type InvoiceDraft } from './parse-invoice.ts';

const item: fc.Arbitrary<InvoiceItem> = fc.record({
  description: fc.constant('Beans'),
  quantity: fc.bigInt({ min: 1n, max: 1_000_000_000n }),
  unitMinor: fc.bigInt({ min: 0n, max: 15_000_000_000n }),
  rate: fc.oneof(fc.constantFrom(0, 550, 700, 1_900, 10_000), fc.nat({ max: 10_000 })),
});
const items = fc.array(item, { minLength: 1, maxLength: 30 });
const sum = (list: readonly bigint[]): bigint => list.reduce((all, one) => all + one, 0n);

it('the sums of the rates are the totals, and net and VAT are gross, in each rate and in all', () => {
  fc.assert(
    fc.property(items, fc.boolean(), (list, isGross) => {
      const totals = totalsOf(list, isGross);
      for (const part of ['net', 'vat', 'gross'] as const) {
        expect(totals[part]).toBe(sum(totals.rates.map((rate) => rate[part])));
      }
      for (const one of [totals, ...totals.rates]) expect(one.gross - one.vat).toBe(one.net);
      expect(sum(totals.amounts)).toBe(isGross ? totals.gross : totals.net);
    }),
  );
});

it('the order of the items changes no sum', () => {
  fc.assert(
    fc.property(items, fc.boolean(), fc.infiniteStream(fc.nat()), (list, isGross, random) => {
      const shuffled = list.map((one) => [random.next().value ?? 0, one] as const).toSorted(([a], [b]) => a - b);
      const [first, second] = [list, shuffled.map(([, one]) => one)].map((order) => totalsOf(order, isGross));
      expect(second).toEqual({ ...first, amounts: second?.amounts });
    }),
  );
});

it('the VAT of a rate is its exact share of the sum, rounded half up', () => {
  fc.assert(
    fc.property(items, fc.boolean(), (list, isGross) => {
      for (const { rate, net, vat, gross } of totalsOf(list, isGross).rates) {
        const [share, whole] = isGross ? [gross * BigInt(rate), 10_000n + BigInt(rate)] : [net * BigInt(rate), 10_000n];
        // Half a unit below the exact share is still rounded to it, half a unit above is not.
        const off = 2n * vat * whole - 2n * share;
        expect(off > -whole && off <= whole).toBe(true);
      }
    }),
  );
});

it('what is read is added up without a float: every accepted draft has the sums of its texts, all within the limit', () => {
  fc.assert(
    fc.property(items, fc.constantFrom(...FIATS), fc.boolean(), (list, currency, pricesIncludeTax) => {
      const drafts = list.map(({ description, quantity, unitMinor, rate }) => ({
        description,
        quantity: formatDecimal(quantity, 3),
        unitMinor,
        vatRate: formatDecimal(BigInt(rate), 2),
      }));
      const parsed = parseInvoice({ ...DRAFT, currency, pricesIncludeTax, items: drafts });
      const { gross } = totalsOf(list, pricesIncludeTax);
      const limit = maxAmountMinor(currency);
      const isPayable = gross > 0n && gross <= limit && list.every(({ unitMinor }) => unitMinor <= limit);
      const isWhole = totalsOf(list, pricesIncludeTax).amounts.every((amount) => amount <= limit);
      const rule = parsed.kind === 'invalid' ? parsed.faults[0]?.rule : null;
      expect(rule).toBe(isPayable && isWhole ? null : gross === 0n ? 'too_little' : 'too_much');
      expect(parsed.kind === 'ok' ? parsed.invoice.items : list).toEqual(list);
    }),
  );
});

const DRAFT: InvoiceDraft = {
  issuedOn: '2026-01-31',
  suppliedOn: null,
  dueOn: '2026-02-14',
  seller: { lines: ['Café Nord'], taxId: null },
  buyer: null,
  currency: 'EUR',
  pricesIncludeTax: false,
  items: [],
  note: null,
};
