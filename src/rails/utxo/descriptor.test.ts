import { describe, expect, it } from 'vitest';
import { descriptorChecksum } from './descriptor-checksum.ts';
import { addressesOf, paramsOf, publicKeyAt, refusalOf, walletOf } from './wallet.fixture.ts';

const bitcoin = paramsOf('bitcoin', 'main');
const litecoin = paramsOf('litecoin', 'main');
const testnet = paramsOf('bitcoin', 'test');

/** The account of https://github.com/bitcoin/bips/blob/master/bip-0086.mediawiki#test-vectors */
const BIP86_ACCOUNT =
  'xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ';
/** The key of the published vectors of BIP 380. */
const BIP380_KEY =
  'xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL';
const HEX_KEY = '0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600';
const xpub = publicKeyAt("m/84'/0'/0'", 'xpub');
const cosigner = publicKeyAt("m/84'/0'/1'", 'xpub');

describe('addresses of a descriptor', () => {
  it('are the published ones of BIP 86: tr(KEY)', () => {
    const wallet = walletOf(bitcoin, 'descriptor', `tr([73c5da0a/86'/0'/0']${BIP86_ACCOUNT}/<0;1>/*)`);
    expect(wallet.scriptType).toBe('p2tr');
    expect(addressesOf(wallet, 2)).toEqual([
      'bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr',
      'bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh',
    ]);
    expect(wallet.deriver.changeAt(0)?.address).toBe('bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7');
  });

  it('are the published ones of BIP 84 (and its change), BIP 49 and BIP 44: wpkh, sh(wpkh), pkh', () => {
    const segwit = walletOf(bitcoin, 'descriptor', `wpkh(${xpub}/<0;1>/*)`);
    expect(segwit.deriver.addressAt(0)).toBe('bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu');
    expect(segwit.deriver.changeAt(0)?.address).toBe('bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el');
    const wrapped = walletOf(testnet, 'descriptor', `sh(wpkh(${publicKeyAt("m/49'/1'/0'", 'tpub')}/0/*))`);
    expect(wrapped.deriver.addressAt(0)).toBe('2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2');
    const legacy = walletOf(litecoin, 'descriptor', `pkh(${publicKeyAt("m/44'/2'/0'", 'xpub')}/0/*)`);
    expect(legacy.deriver.addressAt(0)).toBe('LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez');
  });

  it('do not depend on the order of the keys that sign together', () => {
    const one = walletOf(bitcoin, 'descriptor', `wsh(sortedmulti(2,${xpub}/0/*,${cosigner}/0/*))`);
    const other = walletOf(bitcoin, 'descriptor', `wsh(sortedmulti(2,${cosigner}/0/*,${xpub}/0/*))`);
    expect(addressesOf(one, 10)).toEqual(addressesOf(other, 10));
  });
});

describe('a descriptor that is taken', () => {
  it.each([
    ['no origin', `wpkh(${BIP380_KEY}/0/*)`, `wpkh(${BIP380_KEY}/0/*)`],
    ["' as hardened mark", `wpkh([deadbeef/0'/1h/2H]${BIP380_KEY}/0/*)`, `wpkh([deadbeef/0h/1h/2h]${BIP380_KEY}/0/*)`],
    ['a fingerprint alone', `tr([00ABCDEF]${BIP380_KEY}/0/*)`, `tr([00abcdef]${BIP380_KEY}/0/*)`],
    [
      'more steps (BIP 380)',
      `pkh([deadbeef/0h/1h/2h]${BIP380_KEY}/3/4/5/*)`,
      `pkh([deadbeef/0h/1h/2h]${BIP380_KEY}/3/4/5/*)`,
    ],
    ['no steps', `wpkh(${BIP380_KEY}/*)`, `wpkh(${BIP380_KEY}/*)`],
    ['both chains (BIP 389)', `sh(wpkh(${BIP380_KEY}/<0;1>/*))`, `sh(wpkh(${BIP380_KEY}/<0;1>/*))`],
    ['a zpub where it fits', `wpkh(${publicKeyAt("m/84'/0'/0'", 'zpub')}/0/*)`, `wpkh(${xpub}/0/*)`],
    [
      'a Zpub where it fits',
      `wsh(sortedmulti(1,${publicKeyAt("m/84'/0'/0'", 'Zpub')}/0/*))`,
      `wsh(sortedmulti(1,${xpub}/0/*))`,
    ],
  ])('is stored in one form, with checksum: %s', (_name, text, body) => {
    const stored = `${body}#${descriptorChecksum(body)}`;
    expect(walletOf(bitcoin, 'descriptor', text).source).toBe(stored);
    expect(walletOf(bitcoin, 'descriptor', `${text}#${descriptorChecksum(text)}`).source).toBe(stored);
  });

  it("may have Litecoin's own version bytes, and is stored as Litecoin Core reads it", () => {
    const text = `wpkh(${publicKeyAt("m/84'/0'/0'", 'Ltub')}/0/*)`;
    expect(walletOf(litecoin, 'descriptor', text).source).toContain(`wpkh(${xpub}/0/*)#`);
  });

  it('may have 16 keys', () => {
    const keys = Array.from({ length: 17 }, (_, account) => `${publicKeyAt(`m/48'/0'/${account}'/2'`, 'xpub')}/0/*`);
    const sixteen = `wsh(sortedmulti(16,${keys.slice(0, 16).join(',')}))`;
    expect(walletOf(bitcoin, 'descriptor', sixteen).deriver.addressAt(0)).toMatch(/^bc1q/);
    expect(refusalOf(bitcoin, 'descriptor', `wsh(sortedmulti(16,${keys.join(',')}))`)).toContain('up to 16 keys');
  });
});

describe('a descriptor that cannot be taken', () => {
  const good = `wpkh(${xpub}/0/*)`;
  const checksum = descriptorChecksum(good) ?? '';

  it.each([
    ['missing', `${good}#`],
    ['too long', `${good}#${checksum}q`],
    ['too short', `${good}#${checksum.slice(0, 7)}`],
    ['of another payload', `${good.replace('/0/', '/2/')}#${checksum}`],
    ['wrong itself', `${good}##${checksum.slice(1)}`],
    ['in capitals', `${good}#${checksum.toUpperCase()}`],
  ])('has a checksum that is %s (BIP 380)', (_name, text) => {
    expect(refusalOf(bitcoin, 'descriptor', text)).toContain('checksum');
  });

  it.each([
    ['a hardened wildcard', `wpkh(${xpub}/0/*h)`, 'private key'],
    ["a hardened wildcard with '", `wpkh(${xpub}/0/*')`, 'private key'],
    ['hardened steps (BIP 380)', `wpkh(${BIP380_KEY}/3h/4h/5h/*)`, 'origin'],
    ['no wildcard', `wpkh(${xpub}/0/0)`, 'only one address'],
    ['no steps at all', `wpkh(${xpub})`, 'only one address'],
    ['a wildcard in the midst', `wpkh(${xpub}/*/0)`, 'only one address'],
    ['two wildcards', `wpkh(${xpub}/*/*)`, 'numbers below'],
    ['a hex key', `wpkh(${HEX_KEY})`, 'single public key'],
    ['an x-only key', `tr(${HEX_KEY.slice(2)})`, 'single public key'],
    ['the change chain', `wpkh(${xpub}/1/*)`, 'change'],
    ['the change chain first', `wpkh(${xpub}/<1;0>/*)`, 'change'],
    ['the key of the change chain', `wpkh(${publicKeyAt("m/84'/0'/0'/1", 'xpub')}/*)`, 'change'],
    ['three chains', `wpkh(${xpub}/<0;1;2>/*)`, '<0;1>'],
    ['a chain twice', `wpkh(${xpub}/<0;0>/*)`, 'must be different'],
    ['two pairs of chains', `wpkh(${xpub}/<0;1>/<0;1>/*)`, 'BIP 389'],
    ['a number that is too large', `wpkh(${xpub}/2147483648/*)`, 'below 2147483648'],
    ['a step that is no number', `wpkh(${xpub}/-1/*)`, 'below 2147483648'],
    ['an empty step', `wpkh(${xpub}//*)`, 'below 2147483648'],
    ['a wildcard in the origin (BIP 380)', `wpkh([deadbeef/0h/0h/0h/*]${xpub}/0/*)`, 'origin'],
    ['a slash behind the origin (BIP 380)', `wpkh([deadbeef/0h/0h/0h/]${xpub}/0/*)`, 'origin'],
    ['a short fingerprint (BIP 380)', `wpkh([deadbef/0h]${xpub}/0/*)`, 'origin'],
    ['a long fingerprint (BIP 380)', `wpkh([deadbeeef/0h]${xpub}/0/*)`, 'origin'],
    ['a number in the origin that is too large', `wpkh([deadbeef/2147483648]${xpub}/0/*)`, 'origin'],
    ['no opening bracket (BIP 380)', `wpkh(deadbeef/0h/0h/0h]${xpub}/0/*)`, 'not well formed'],
    ['two origins (BIP 380)', `wpkh([deadbeef][deadbeef]${xpub}/0/*)`, 'not well formed'],
    ['no key', 'wpkh()', 'empty'],
    ['a damaged key', `wpkh(${xpub.slice(0, -1)}/0/*)`, 'damaged'],
    ['a key of a test network', `wpkh(${publicKeyAt("m/84'/1'/0'", 'tpub')}/0/*)`, 'BITCOIN_CHAIN'],
    ['a key for other addresses', `wpkh(${publicKeyAt("m/49'/0'/0'", 'ypub')}/0/*)`, 'ypub'],
    ['a tree of scripts', `tr(${xpub}/0/*,pk(${cosigner}/0/*))`, 'tr(KEY)'],
    ['two keys in tr', `tr(${xpub}/0/*,${cosigner}/0/*)`, 'tr(KEY)'],
    ['multi', `wsh(multi(1,${xpub}/0/*))`, 'sortedmulti'],
    ['P2SH of several', `sh(sortedmulti(1,${xpub}/0/*))`, 'These descriptors are accepted'],
    ['wrapped P2WSH', `sh(wsh(sortedmulti(1,${xpub}/0/*)))`, 'These descriptors are accepted'],
    ['pk', `pk(${xpub}/0/*)`, 'These descriptors are accepted'],
    ['combo', `combo(${xpub}/0/*)`, 'These descriptors are accepted'],
    ['addr', 'addr(bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu)', 'These descriptors are accepted'],
    ['an open parenthesis', `sh(wpkh(${xpub}/0/*)`, 'parentheses'],
    ['a key alone', xpub, 'as an extended key'],
    ['a key alone, with origin', `[73c5da0a/84h/0h/0h]${xpub}`, 'as an extended key'],
    ['nothing', '', 'empty'],
    ['a character from elsewhere', `wpkh(${xpub}/0/*)\u00a0#`, 'character'],
    ['far too much', `wpkh(${'1'.repeat(100_000)})`, 'at most'],
    ['more signatures than keys', `wsh(sortedmulti(2,${xpub}/0/*))`, 'k must be a number'],
    ['no signature', `wsh(sortedmulti(0,${xpub}/0/*))`, 'k must be a number'],
    ['the same key twice', `wsh(sortedmulti(2,${xpub}/0/*,${xpub}/0/*))`, 'same key twice'],
  ])('is refused with the rule and the way out: %s', (_name, text, says) => {
    expect(refusalOf(bitcoin, 'descriptor', text)).toContain(says);
  });
});
