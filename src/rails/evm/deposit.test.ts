import * as fc from 'fast-check';
import { refusesAsExposed } from '../refused-secret.fixture.ts';
import { concat, getContractAddress, toHex } from 'viem';
import { describe, expect, it } from 'vitest';
import { refusalText } from '../../app/rejected.ts';
import {
  DEPOSIT_FACTORY,
  DETERMINISTIC_DEPLOYER,
  depositAddress,
  factoryOf,
  FIRST_DEPOSIT_FACTORY,
  parseTreasury,
} from './deposit.ts';

const TREASURY = '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266';

function messageOf(text: string): string {
  const check = parseTreasury(text);
  if (check.kind === 'ok') throw new Error('it was taken');
  return refusalText(check.fault);
}

describe('deposit addresses', () => {
  it('never change: money lies on them', () => {
    const some = [0, 1, 2 ** 31 - 1];
    expect(DEPOSIT_FACTORY.address).toBe('0x524Ff96E772A84A8B13F603488f5bf4E5f746032');
    expect(DEPOSIT_FACTORY.implementation).toBe('0xE5a8f1a38c20549a7bCC52e0c2ecC904e5B99E76');
    expect(some.map((index) => depositAddress(TREASURY, index))).toEqual([
      '0x40cBCcdBF819bD30b544698C7e6A8F6B376B4DB0',
      '0x74C683Cd4D9aA26e08B1e86ab70A2766586a39eF',
      '0x553EC416aB102187B4f6607B6F6eb5B813D6C6ca',
    ]);
    expect(FIRST_DEPOSIT_FACTORY.address).toBe('0x5D3F1351140EFB4D603d4AeA69753a089d3C411c');
    expect(FIRST_DEPOSIT_FACTORY.implementation).toBe('0x87c8B0c22Ac5Aa00eFBaCEadA41E3d0CeCa8C2A7');
    expect(some.map((index) => depositAddress(TREASURY, index, FIRST_DEPOSIT_FACTORY))).toEqual([
      '0x4c2171DEa6efA47f739055Ab003076B6c89DF862',
      '0xDc14d856bA1E0E4Cefed16F26A7d71347AE53a86',
      '0xd22478BDAdfA50584525f566A99ae1bfB5cC34B0',
    ]);
  });

  it('show which factory they belong to', () => {
    for (const factory of [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY]) {
      const address = depositAddress(TREASURY, 7, factory);
      expect(factoryOf(TREASURY, 7, address.toLowerCase())).toBe(factory);
      expect(factoryOf(TREASURY, 8, address)).toBeNull();
    }
  });

  it('follow EIP-1014 and ERC-1167, as another library computes them', () => {
    const factory = getContractAddress({
      opcode: 'CREATE2',
      from: DETERMINISTIC_DEPLOYER,
      salt: hex(DEPOSIT_FACTORY.salt),
      bytecode: hex(DEPOSIT_FACTORY.initCode),
    });
    expect(factory).toBe(DEPOSIT_FACTORY.address);
    expect(getContractAddress({ from: factory, nonce: 1n })).toBe(DEPOSIT_FACTORY.implementation);
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: 2n ** 160n - 1n }), fc.nat(2 ** 31 - 1), (number, index) => {
        const treasury = toHex(number, { size: 20 });
        const bytecode = concat([
          '0x6100413d81600a3d39f3363d3d373d3d3d363d73',
          hex(DEPOSIT_FACTORY.implementation),
          '0x5af43d82803e903d91602b57fd5bf3',
          treasury,
        ]);
        const salt = toHex(index, { size: 32 });
        const expected = getContractAddress({ opcode: 'CREATE2', from: factory, salt, bytecode });
        expect(depositAddress(treasury, index)).toBe(expected);
      }),
    );
  });

  it('exist for every index below 2^31 and for no other', () => {
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => depositAddress(TREASURY, index)).toThrow(RangeError);
    }
    expect(() => depositAddress('0x00', 0)).toThrow(RangeError);
  });
});

describe('a treasury', () => {
  it('is taken in any usual spelling, and comes with its checksum and its deposits', () => {
    for (const text of [TREASURY, TREASURY.toLowerCase(), ` 0x${TREASURY.slice(2).toUpperCase()}\n`]) {
      const check = parseTreasury(text);
      if (check.kind === 'invalid') throw new Error(refusalText(check.fault));
      expect(check.treasury).toBe(TREASURY);
      expect(check.deriver.addressAt(7)).toBe(depositAddress(TREASURY, 7));
    }
  });

  it.each([
    ['a raw key', '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'],
    ['a raw key without 0x', 'AC0974BEC39A17E36BA4A6B4D238FF944BACB478CBED5EFCAE784D7BF4F2FF80'],
    ['an extended private key', `xprv${'9s21ZrQH143K'.repeat(9)}`],
    ['a WIF key', 'L1uyy5qTuGrVXrmrsvHWHgVzW9kKdrp27wBC7Vs6nZDTF2BRUVwy'],
    ['a recovery phrase', 'test test test test test test test test test test test junk'],
  ])('is refused as private, named as exposed and never repeated: %s', (_name, secret) => {
    expect(messageOf(secret)).toSatisfy(refusesAsExposed(secret));
  });

  it('is refused where money would be lost', () => {
    for (const address of [`0x${'0'.repeat(40)}`, '0x000000000000000000000000000000000000dEaD']) {
      expect(messageOf(address)).toContain('lost');
    }
    const contracts = [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY].flatMap((each) => [each.address, each.implementation]);
    for (const address of [...contracts, DETERMINISTIC_DEPLOYER]) {
      expect(messageOf(address.toLowerCase())).toContain('creates deposit contracts');
    }
  });

  it('is refused with a wrong checksum, a missing digit, or as something else', () => {
    expect(messageOf(TREASURY.replace('f39F', 'F39F'))).toContain('checksum');
    expect(messageOf(TREASURY.slice(0, -1))).toContain('40 hex digits');
    expect(messageOf('')).toContain('empty');
    expect(messageOf(`xpub${'6BosfCnifzxc'.repeat(9)}`)).toContain('extended public key');
    expect(messageOf('bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq')).toContain('40 hex digits');
  });
});

function hex(text: string): `0x${string}` {
  return `0x${text.slice(2)}`;
}
