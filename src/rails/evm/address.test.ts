import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseEvmAddress, toChecksumAddress } from './address.ts';

/** From EIP-55's own test cases. */
const EIP55 = [
  '0x52908400098527886E0F7030069857D2E4169EE7',
  '0x8617E340B3D01FA5F11F306F4090FD50E238070D',
  '0xde709f2102306220921060314715629080e2fb77',
  '0x27b1fdb04752bbc536007a920d24acb045561c26',
  '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
  '0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359',
  '0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB',
  '0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb',
];

const lowercaseAddress = fc
  .uint8Array({ minLength: 20, maxLength: 20 })
  .map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);

describe('EVM addresses', () => {
  it.each(EIP55)('writes the checksum as EIP-55 does: %s', (address) => {
    expect(toChecksumAddress(address.toLowerCase())).toBe(address);
    expect(parseEvmAddress(address)).toEqual({ kind: 'ok', address });
  });

  it('takes an address without checksum, in lower or upper case, and adds the checksum', () => {
    fc.assert(
      fc.property(lowercaseAddress, (lowercase) => {
        const expected = { kind: 'ok', address: toChecksumAddress(lowercase) };
        expect(parseEvmAddress(lowercase)).toEqual(expected);
        expect(parseEvmAddress(`0x${lowercase.slice(2).toUpperCase()}`)).toEqual(expected);
        expect(parseEvmAddress(` ${expected.address}\n`)).toEqual(expected);
      }),
    );
  });

  it('refuses a mixed-case address with any one letter in the wrong case', () => {
    const address = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';
    for (let i = 2; i < address.length; i += 1) {
      const digit = address.charAt(i);
      const swapped = digit === digit.toLowerCase() ? digit.toUpperCase() : digit.toLowerCase();
      if (swapped === digit) continue;
      const check = parseEvmAddress(address.slice(0, i) + swapped + address.slice(i + 1));
      expect(check).toMatchObject({ kind: 'invalid', fault: { code: 'address_checksum' } });
    }
  });

  it.each([
    '',
    '0x',
    '5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAe',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed0',
    '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAeg',
    'vitalik.eth',
  ])('refuses what is not 0x and 40 hex digits: "%s"', (text) => {
    expect(parseEvmAddress(text)).toMatchObject({ kind: 'invalid', fault: { code: 'address_form' } });
  });
});
