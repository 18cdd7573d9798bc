import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readDatev, readXero } from '../../test/bookkeeping.ts';
import { BOOKING_KINDS, type Booking } from '../domain/bookkeeping.ts';
import { EXCEPTIONS } from '../domain/payment.ts';
import { datevHead, datevLine } from './datev.ts';
import { inWindows1252, windows1252 } from './windows-1252.ts';
import { XERO_HEAD, xeroLine } from './xero.ts';

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.string({ unit: 'binary' }),
  fc.constantFrom('Müller; "Söhne"', 'Žižka\r\n💶', 'ﬃﬃ'.repeat(40), '＂quoted＂', '=1+1', '', '-', 'Rg 1.2/2026'),
);
const orNull = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: null });
const booking: fc.Arbitrary<Booking> = fc.record({
  kind: fc.constantFrom(...BOOKING_KINDS),
  day: fc.integer({ min: 1, max: 31 }).map((day) => `2026-05-${String(day).padStart(2, '0')}`),
  minor: fc.bigInt(1n, 999_999_999_999n),
  id: fc.constant('ord_01h455vb4pex5vsknk084sn02q'),
  orderId: orNull(anyText),
  customer: orNull(anyText),
  amount: fc.constantFrom('1', '0.00000001', '1234567.000000000000000001'),
  coin: fc.constant('ETH'),
  network: fc.constant('ethereum' as const),
  exception: orNull(fc.constantFrom(...EXCEPTIONS)),
  transaction: orNull(fc.constant(`0x${'ab'.repeat(32)}`)),
});
const settings = {
  consultantNumber: 1_001,
  clientNumber: 7,
  fiscalYearMonth: 7,
  accountLength: 4,
  walletAccount: '1460',
  receiptsAccount: '8400',
  refundsAccount: '8720',
  feesAccount: '4970',
};
const days = { from: '2026-05-01', to: '2026-05-31', zone: 'Europe/Berlin' };
const contraOf = { receipt: '8400', refund: '8720', fee: '4970' };
/** The bytes of a file in Windows-1252. */
const bytes = (text: string): Buffer => Buffer.from(windows1252(text), 'latin1');
const sum = (list: readonly bigint[]): bigint => list.reduce((all, one) => all + one, 0n);

describe('whatever the bookings and their texts are', () => {
  it('a reader of DATEV’s format finds every one of them, and the same sums', () => {
    fc.assert(
      fc.property(fc.array(booking), (bookings) => {
        const head = datevHead(settings, { days, mode: 'live', madeAt: '20260601120000000' });
        const batch = readDatev(bytes(head + bookings.map((one) => datevLine(one, settings)).join('')));
        expect(batch).toMatchObject({ consultant: 1_001, client: 7, yearStart: '20250701', title: 'Cointill 05/2026' });
        expect(
          batch.bookings.map(({ cents, day, isDebit, account, contra, id }) => [
            cents,
            day,
            isDebit,
            account,
            contra,
            id,
          ]),
        ).toEqual(
          bookings.map(({ minor, day, kind, id }) => [
            minor,
            day.replaceAll('-', ''),
            kind === 'receipt',
            '1460',
            contraOf[kind],
            id,
          ]),
        );
        for (const kind of BOOKING_KINDS) {
          const written = batch.bookings.filter(({ contra }) => contra === contraOf[kind]).map(({ cents }) => cents);
          expect(sum(written)).toBe(sum(bookings.filter((one) => one.kind === kind).map(({ minor }) => minor)));
        }
      }),
    );
  });

  it('a reader of Xero’s format finds every one of them, signed, and the same sum', () => {
    fc.assert(
      fc.property(fc.array(booking), (bookings) => {
        const lines = readXero(Buffer.from(XERO_HEAD + bookings.map((one) => xeroLine(one, 'EUR')).join('')));
        expect(lines.map(({ date, cents }) => [date, cents])).toEqual(
          bookings.map(({ day, kind, minor }) => [day, kind === 'receipt' ? minor : -minor]),
        );
      }),
    );
  });

  it('the bytes of Windows-1252 are those of its characters', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(new TextDecoder('windows-1252').decode(bytes(text))).toBe(inWindows1252(text));
      }),
    );
  });
});

describe('the texts of a booking', () => {
  const one: Booking = {
    kind: 'receipt',
    day: '2026-05-31',
    minor: 5n,
    id: 'ord_1',
    orderId: 'Rg 1.2/Köln',
    customer: 'Zoë Žižka 💶',
    amount: '0.5',
    coin: 'ETH',
    network: 'ethereum',
    exception: 'overpaid',
    transaction: null,
  };

  it('keep their umlauts for DATEV, lose what its characters lack, and have a reference that it takes', () => {
    const head = datevHead(settings, { days, mode: 'test', madeAt: '20260601120000000' });
    const { bookings, title } = readDatev(bytes(head + datevLine(one, settings)));
    expect(title).toBe('TEST Cointill 05/2026');
    expect(bookings[0]).toMatchObject({
      cents: 5n,
      reference: 'Rg-1-2/Koeln',
      text: 'Zahlungseingang 0,5 ETH, zu viel, Zoë Žižka ?',
    });
    const unnamed = readDatev(bytes(head + datevLine({ ...one, orderId: '💶', customer: null }, settings)));
    expect(unnamed.bookings[0]?.reference).toBe('ord_1');
  });

  it('are whole for Xero', () => {
    expect(readXero(Buffer.from(XERO_HEAD + xeroLine(one, 'EUR')))).toEqual([
      {
        date: '2026-05-31',
        cents: 5n,
        payee: 'Zoë Žižka 💶',
        description: 'Received 0.5 ETH on Ethereum, overpaid, ord_1',
        reference: 'Rg 1.2/Köln',
      },
    ]);
    expect(xeroLine({ ...one, kind: 'refund', minor: 1_234n }, 'JPY')).toContain('2026-05-31,-1234,');
  });
});
