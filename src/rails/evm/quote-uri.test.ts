import { expect, it } from 'vitest';
import { evmPaymentUri } from './quote-uri.ts';

const ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

it('writes the payment URI of EIP-681, with the checksum and every digit of the amount', () => {
  expect(evmPaymentUri({ address: ADDRESS.toLowerCase(), chainId: 1, amount: 123_456_789_012_345_678_900n })).toBe(
    `ethereum:${ADDRESS}@1?value=123456789012345678900`,
  );
});

it('refuses a chain id or an amount that no wallet could read', () => {
  expect(() => evmPaymentUri({ address: ADDRESS, chainId: 0, amount: 1n })).toThrow(RangeError);
  expect(() => evmPaymentUri({ address: ADDRESS, chainId: 1.5, amount: 1n })).toThrow(RangeError);
  expect(() => evmPaymentUri({ address: ADDRESS, chainId: 1, amount: -1n })).toThrow(RangeError);
});
