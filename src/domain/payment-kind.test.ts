import { expect, it } from 'vitest';
import { PAYMENT_APIS } from './payment.ts';
import { PAYMENT_KINDS, parsePaymentId, paymentIdOf, publicPaymentId } from './payment-kind.ts';

const ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';

it.each(PAYMENT_APIS)('the id of %s leads back to it, and to no payment of another kind', (api) => {
  const text = publicPaymentId({ id: ID, api });
  expect(parsePaymentId(text)).toEqual({ id: ID, api });
  const found = PAYMENT_APIS.filter((one) => paymentIdOf(one, text) === ID);
  expect(found).toEqual([api]);
});

it('takes nothing else for an id', () => {
  for (const text of ['', 'ord_', 're_01kadfw4t3f7vb8y2z6m5n9qrs', ID.slice(1), `ord_${ID}`]) {
    expect(parsePaymentId(text)).toBeNull();
  }
});

it('has one kind at most whose ids are plain UUIDs', () => {
  expect(Object.values(PAYMENT_KINDS).filter(({ idKind }) => idKind === null)).toHaveLength(1);
});
