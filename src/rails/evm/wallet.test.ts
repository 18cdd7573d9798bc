import { refusesAsExposed } from '../refused-secret.fixture.ts';
import { pbkdf2Sync } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { createBase58check } from '@scure/base';
import { HDKey } from '@scure/bip32';
import { describe, expect, it } from 'vitest';
import { refusalText } from '../../app/rejected.ts';
import { parseEvmXpub, type XpubCheck } from './wallet.ts';

/** The phrase whose accounts anvil and Hardhat make rich, so that its addresses are widely published. */
const MNEMONIC = 'test test test test test test test test test test test junk';
const ADDRESSES = [
  '0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266',
  '0x70997970C51812dc3A010C7d01b50e0d17dc79C8',
  '0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC',
  '0x90F79bf6EB2c4f870365E785982E1f101E93b906',
];

// BIP 39: the seed is PBKDF2 of the phrase, its salt the word "mnemonic" (and the passphrase, here none).
const master = HDKey.fromMasterSeed(pbkdf2Sync(MNEMONIC, 'mnemonic', 2048, 64, 'sha512'));
const account = master.derive("m/44'/60'/0'");
const xpub = account.publicExtendedKey;
const base58check = createBase58check(sha256);

/** The same key with other version bytes (SLIP-132), checksum right. */
function withVersion(key: string, version: number): string {
  const bytes = base58check.decode(key);
  new DataView(bytes.buffer, bytes.byteOffset).setUint32(0, version);
  return base58check.encode(bytes);
}

function deriverOf(text: string): Extract<XpubCheck, { kind: 'ok' }>['deriver'] {
  const check = parseEvmXpub(text);
  if (check.kind === 'invalid') throw new Error(refusalText(check.fault));
  return check.deriver;
}

function messageOf(text: string): string {
  const check = parseEvmXpub(text);
  if (check.kind === 'ok') throw new Error('it was taken');
  return refusalText(check.fault);
}

describe('addresses of an EVM xpub', () => {
  it("are those that the wallet shows: the account's external chain, in order", () => {
    const deriver = deriverOf(xpub);
    expect(ADDRESSES.map((_, index) => deriver.addressAt(index))).toEqual(ADDRESSES);
  });

  it('are the same from the xpub of the external chain itself', () => {
    const deriver = deriverOf(account.deriveChild(0).publicExtendedKey);
    expect(ADDRESSES.map((_, index) => deriver.addressAt(index))).toEqual(ADDRESSES);
  });

  it('exist for every index below 2^31 and for no other', () => {
    const deriver = deriverOf(xpub);
    expect(deriver.addressAt(2 ** 31 - 1)).toMatch(/^0x/);
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => deriver.addressAt(index)).toThrow(RangeError);
    }
  });

  it('come with the xpub as it is to be stored, without the blanks around it', () => {
    expect(parseEvmXpub(`  ${xpub}\n`)).toMatchObject({ kind: 'ok', xpub });
  });
});

describe('a wallet key that cannot be taken', () => {
  const xprv = account.privateExtendedKey;

  it.each([
    ['xprv', xprv],
    ['yprv', withVersion(xprv, 0x049d7878)],
    ['zprv', withVersion(xprv, 0x04b2430c)],
    ['tprv', withVersion(xprv, 0x04358394)],
    ['Ltpv', withVersion(xprv, 0x019d9cfe)],
    ['a damaged xprv', xprv.slice(0, 40)],
    ['an xprv in a descriptor', `[00000000/44h/60h/0h]${xprv}/0/*`],
    ['a raw key', '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'],
    ['a WIF key', 'L1uyy5qTuGrVXrmrsvHWHgVzW9kKdrp27wBC7Vs6nZDTF2BRUVwy'],
    ['a recovery phrase', MNEMONIC],
  ])('is refused as private, named as exposed and never repeated: %s', (_name, secret) => {
    expect(messageOf(secret)).toSatisfy(refusesAsExposed(secret));
  });

  it.each([
    ['ypub', 0x049d7cb2, 'Bitcoin'],
    ['zpub', 0x04b24746, 'Bitcoin'],
    ['Ypub', 0x0295b43f, 'multisignature'],
    ['Zpub', 0x02aa7ed3, 'multisignature'],
    ['tpub', 0x043587cf, 'testnet'],
    ['vpub', 0x045f1cf6, 'testnet'],
    ['upub', 0x044a5262, 'testnet'],
    ['Ltub', 0x019da462, 'Litecoin'],
    ['Mtub', 0x01b26ef6, 'Litecoin'],
  ])("is told apart from an EVM wallet's: %s", (prefix, version, named) => {
    const key = withVersion(xpub, version);
    expect(key.startsWith(prefix)).toBe(true);
    const message = messageOf(key);
    expect(message).toContain(named);
    expect(message).toContain("m/44'/60'/0'");
  });

  it('is refused for one wrong character, a missing one, or a point that is not on the curve', () => {
    const wrong = xpub.slice(0, 60) + (xpub.charAt(60) === 'a' ? 'b' : 'a') + xpub.slice(61);
    const offCurve = base58check.decode(xpub);
    offCurve.fill(0xff, 46);
    for (const text of [wrong, xpub.slice(0, -1), `${xpub}1`, `${xpub}0`, base58check.encode(offCurve)]) {
      expect(messageOf(text)).toContain('damaged');
    }
  });

  it('is refused at any other depth, and on the change chain', () => {
    expect(messageOf(master.publicExtendedKey)).toContain('depth 0');
    expect(messageOf(master.derive("m/44'/60'").publicExtendedKey)).toContain('depth 2');
    expect(messageOf(account.derive('m/0/0').publicExtendedKey)).toContain('depth 5');
    expect(messageOf(account.deriveChild(1).publicExtendedKey)).toContain(
      'below /1, but receiving addresses are below /0',
    );
    expect(messageOf(account.deriveChild(2 ** 31).publicExtendedKey)).toContain(
      "below /0', but receiving addresses are below /0",
    );
  });

  it('is refused when it is no extended key at all', () => {
    expect(messageOf('')).toContain('empty');
    expect(messageOf('hello')).toContain('begins with xpub');
    expect(messageOf('0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266')).toContain('single address');
    expect(messageOf(`xpub${'1'.repeat(100_000)}`)).toContain('damaged');
  });
});
