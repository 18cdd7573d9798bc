import { refusalText } from '../../app/rejected.ts';
import { refusesAsExposed } from '../refused-secret.fixture.ts';
import { HDKey } from '@scure/bip32';
import { p2ms, p2pkh, p2sh, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  addressesOf,
  MASTER,
  MNEMONIC,
  paramsOf,
  publicKeyAt,
  refusalOf,
  VERSIONS,
  walletOf,
  withVersion,
} from './wallet.fixture.ts';
import { parseUtxoWallet } from './wallet.ts';

const bitcoin = paramsOf('bitcoin', 'main');
const litecoin = paramsOf('litecoin', 'main');
const testnet = paramsOf('bitcoin', 'test');
const regtest = paramsOf('litecoin', 'regtest');

/**
 * Published account keys with their first addresses, all of the phrase "abandon … about":
 * https://github.com/satoshilabs/slips/blob/master/slip-0132.md#bitcoin-test-vectors (xpub, ypub, zpub),
 * https://github.com/bitcoin/bips/blob/master/bip-0084.mediawiki#test-vectors (zpub, second address),
 * https://github.com/bitcoin/bips/blob/master/bip-0049.mediawiki#test-vectors (the testnet account),
 * the tests of https://github.com/EdgeApp/edge-currency-plugins (Litecoin).
 */
describe('addresses of an extended public key', () => {
  it.each([
    [
      'xpub: P2PKH',
      bitcoin,
      'xpub6BosfCnifzxcFwrSzQiqu2DBVTshkCXacvNsWGYJVVhhawA7d4R5WSWGFNbi8Aw6ZRc1brxMyWMzG3DSSSSoekkudhUd9yLb6qx39T9nMdj',
      'p2pkh',
      ['1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA'],
    ],
    [
      'ypub: P2SH-P2WPKH',
      bitcoin,
      'ypub6Ww3ibxVfGzLrAH1PNcjyAWenMTbbAosGNB6VvmSEgytSER9azLDWCxoJwW7Ke7icmizBMXrzBx9979FfaHxHcrArf3zbeJJJUZPf663zsP',
      'p2sh-p2wpkh',
      ['37VucYSaXLCAsxYyAPfbSi9eh4iEcbShgf'],
    ],
    [
      'zpub: P2WPKH',
      bitcoin,
      'zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs',
      'p2wpkh',
      ['bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 'bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g'],
    ],
    [
      'upub: P2SH-P2WPKH of testnet',
      testnet,
      'upub5EFU65HtV5TeiSHmZZm7FUffBGy8UKeqp7vw43jYbvZPpoVsgU93oac7Wk3u6moKegAEWtGNF8DehrnHtv21XXEMYRUocHqguyjknFHYfgY',
      'p2sh-p2wpkh',
      ['2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2'],
    ],
    [
      'Mtub: P2SH-P2WPKH of Litecoin',
      litecoin,
      'Mtub2rz9F1pkisRsSZX8sa4Ajon9GhPP6JymLgpuHqbYdU5JKFLBF7Qy8b1tZ3dccj2fefrAxfrPdVkpCxuWn3g72UctH2bvJRkp6iFmp8aLeRZ',
      'p2sh-p2wpkh',
      ['M7wtsL7wSHDBJVMWWhtQfTMSYYkyooAAXM'],
    ],
    [
      "zpub of Litecoin, with Bitcoin's version bytes",
      litecoin,
      'zpub6rPo5mF47z5coVm5rvWv7fv181awb7Vckn5Cf3xQXBVKu18kuBHDhNi1Jrb4br6vVD3ZbrnXemEsWJoR18mZwkUdzwD8TQnHDUCGxqZ6swA',
      'p2wpkh',
      ['ltc1qjmxnz78nmc8nq77wuxh25n2es7rzm5c2rkk4wh'],
    ],
    [
      "xpub of Litecoin, with Bitcoin's version bytes",
      litecoin,
      'xpub6BnJJjq783EdyBeQPA9P9ao9DTS3fUqyKG5NJDcrCiwwxEkesGoHN94LZRGE7rz1jgcvmmp8j55BNx573KFq1WBwKiemzkdfNKffKx6Mvku',
      'p2pkh',
      ['LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez'],
    ],
    [
      'Ltub: P2PKH of Litecoin',
      litecoin,
      publicKeyAt("m/44'/2'/0'", 'Ltub'),
      'p2pkh',
      ['LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez'],
    ],
  ] as const)('are the published ones: %s', (_name, params, key, scriptType, addresses) => {
    const wallet = walletOf(params, 'xpub', key);
    expect(addressesOf(wallet, addresses.length)).toEqual(addresses);
    expect(wallet.scriptType).toBe(scriptType);
  });

  it.each([
    ['vpub', testnet, 'tb1q'],
    ['vpub', regtest, 'rltc1q'],
    ['ttub', regtest, 'm'],
    ['tpub', paramsOf('bitcoin', 'regtest'), 'm'],
    ['vpub', paramsOf('bitcoin', 'signet'), 'tb1q'],
    ['upub', paramsOf('litecoin', 'test'), 'Q'],
  ] as const)('are those of the chain: %s', (prefix, params, begins) => {
    const [address = ''] = addressesOf(walletOf(params, 'xpub', publicKeyAt("m/84'/1'/0'", prefix)), 1);
    // P2PKH addresses of the test chains begin with m or n.
    expect(address.replace(/^n/, 'm').slice(0, begins.length)).toBe(begins);
  });

  it('are the same from the external chain (depth 4), which has no change', () => {
    const account = walletOf(bitcoin, 'xpub', publicKeyAt("m/84'/0'/0'", 'zpub'));
    const chain = walletOf(bitcoin, 'xpub', publicKeyAt("m/84'/0'/0'/0", 'zpub'));
    expect(addressesOf(chain, 5)).toEqual(addressesOf(account, 5));
    expect(chain.deriver.changeAt(0)).toBeNull();
  });

  it("are taken from Electrum's own SegWit seeds, whose account lies at m/0'", () => {
    const wallet = walletOf(bitcoin, 'xpub', publicKeyAt("m/0'", 'zpub'));
    const { publicKey } = MASTER.derive("m/0'/0/0");
    if (!publicKey) throw new Error('no key');
    expect(wallet.deriver.addressAt(0)).toBe(p2wpkh(publicKey, bitcoin.address).address);
  });

  it('exist for every index below 2^31 and for no other', () => {
    const { deriver } = walletOf(bitcoin, 'xpub', publicKeyAt("m/84'/0'/0'", 'zpub'));
    expect(deriver.addressAt(2 ** 31 - 1)).toMatch(/^bc1q/);
    for (const index of [-1, 0.5, 2 ** 31, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => deriver.addressAt(index)).toThrow(RangeError);
      expect(() => deriver.outputAt(index)).toThrow(RangeError);
    }
  });

  it('come with a note where the key does not say which kind they are', () => {
    expect(walletOf(bitcoin, 'xpub', publicKeyAt("m/84'/0'/0'", 'xpub')).note).toContain('wpkh(KEY/0/*)');
    expect(walletOf(litecoin, 'xpub', publicKeyAt("m/84'/2'/0'", 'Ltub')).note).toContain('L…');
    expect(walletOf(bitcoin, 'xpub', publicKeyAt("m/84'/0'/0'", 'zpub')).note).toBeNull();
  });
});

describe('what is derived', () => {
  it.each(['pkh', 'wpkh', 'sh(wpkh)', 'tr', 'wsh'] as const)(
    'is what two other libraries derive, for any index: %s',
    (form) => {
      const account = HDKey.fromExtendedKey(MASTER.derive("m/48'/0'/0'/2'").publicExtendedKey);
      const cosigner = HDKey.fromExtendedKey(MASTER.derive("m/48'/0'/1'/2'").publicExtendedKey);
      const key = `${account.publicExtendedKey}/<0;1>/*`;
      const text = {
        pkh: `pkh(${key})`,
        wpkh: `wpkh(${key})`,
        'sh(wpkh)': `sh(wpkh(${key}))`,
        tr: `tr(${key})`,
        wsh: `wsh(sortedmulti(2,${key},${cosigner.publicExtendedKey}/<0;1>/*))`,
      }[form];
      const { deriver } = walletOf(bitcoin, 'descriptor', text);
      const expectedAt = (path: string): string => {
        const [own, other] = [account, cosigner].map((parent) => parent.derive(path).publicKey);
        if (!own || !other) throw new Error('no key');
        const sorted = [own, other].toSorted((a, b) => Buffer.compare(a, b));
        return {
          pkh: () => p2pkh(own).address,
          wpkh: () => p2wpkh(own).address,
          'sh(wpkh)': () => p2sh(p2wpkh(own)).address,
          tr: () => p2tr(own.slice(1)).address,
          wsh: () => p2wsh(p2ms(2, sorted)).address,
        }[form]();
      };
      fc.assert(
        fc.property(fc.integer({ min: 0, max: 2 ** 31 - 1 }), (index) => {
          expect(deriver.addressAt(index)).toBe(expectedAt(`m/0/${index}`));
          expect(deriver.outputAt(index).address).toBe(expectedAt(`m/0/${index}`));
          expect(deriver.changeAt(index)?.address).toBe(expectedAt(`m/1/${index}`));
        }),
        { numRuns: 30 },
      );
    },
  );

  it('reads back from its stored form and from its descriptor as the same addresses', () => {
    const single = fc.constantFrom('pkh(KEY)', 'wpkh(KEY)', 'sh(wpkh(KEY))', 'tr(KEY)', 'wsh(sortedmulti(1,KEY))');
    const mark = fc.constantFrom('h', 'H', "'");
    const chain = fc.constantFrom('/0/*', '/<0;1>/*', '/7/0/*', '/*');
    fc.assert(
      fc.property(single, mark, chain, fc.boolean(), fc.nat(99), (form, mark, chain, origin, account) => {
        const key = publicKeyAt(`m/84'/0'/${account}'`, 'xpub');
        const from = origin ? `[73C5DA0A/84${mark}/0${mark}/${account}${mark}]` : '';
        const wallet = walletOf(bitcoin, 'descriptor', ` ${form.replace('KEY', from + key + chain)}\n`);
        expect(wallet.source).toBe(wallet.descriptor);
        const again = walletOf(bitcoin, 'descriptor', wallet.source);
        expect(again.source).toBe(wallet.source);
        expect(again.deriver.outputAt(3)).toEqual(wallet.deriver.outputAt(3));
        expect(again.deriver.changeAt(3)).toEqual(wallet.deriver.changeAt(3));
      }),
      { numRuns: 40 },
    );
    for (const prefix of ['xpub', 'ypub', 'zpub', 'Ltub', 'Mtub'] as const) {
      const key = publicKeyAt("m/84'/2'/0'", prefix);
      const wallet = walletOf(litecoin, 'xpub', `  ${key}\n`);
      expect(wallet.source).toBe(key);
      const again = walletOf(litecoin, 'descriptor', wallet.descriptor);
      expect(again.deriver.outputAt(3)).toEqual(wallet.deriver.outputAt(3));
      expect(again.deriver.changeAt(3)).toEqual(wallet.deriver.changeAt(3));
    }
  });

  it('takes no checksum for a private key that spells one', () => {
    const key = publicKeyAt("m/84'/0'/97'", 'xpub');
    const { source } = walletOf(bitcoin, 'descriptor', `wpkh([73c5da0a/84h/0h/97h]${key}/0/*)`);
    expect(source).toMatch(/#\w*[a-z]prv/);
    expect(walletOf(bitcoin, 'descriptor', source).source).toBe(source);
  });

  it('says where the owner finds the key: below the origin, or else below the given key itself', () => {
    const key = publicKeyAt("m/84'/0'/0'", 'xpub');
    const known = walletOf(bitcoin, 'descriptor', `wpkh([73c5da0a/84h/0h/0h]${key}/<0;1>/*)`).deriver;
    const hard = 2 ** 31;
    expect(known.outputAt(5).keys).toMatchObject([{ fingerprint: 0x73c5da0a, path: [hard + 84, hard, hard, 0, 5] }]);
    expect(known.changeAt(5)?.keys).toMatchObject([{ path: [hard + 84, hard, hard, 1, 5] }]);
    const { fingerprint } = MASTER.derive("m/84'/0'/0'");
    expect(walletOf(bitcoin, 'descriptor', `wpkh(${key}/0/*)`).deriver.outputAt(5).keys).toMatchObject([
      { fingerprint, path: [0, 5] },
    ]);
  });
});

describe('a private key', () => {
  const xprv = MASTER.derive("m/84'/0'/0'").privateExtendedKey;
  const wif = 'L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1';

  it.each([
    ['an xprv', xprv],
    ['a zprv', withVersion(xprv, 0x04b2430c)],
    ['a tprv', withVersion(xprv, 0x04358394)],
    ['an Ltpv', withVersion(xprv, 0x019d9cfe)],
    ['an Mtpv', withVersion(xprv, 0x01b26792)],
    ['a ttpv', withVersion(xprv, 0x0436ef7d)],
    ['a damaged xprv', xprv.slice(0, 40)],
    ['an xprv in a descriptor', `wpkh([73c5da0a/84h/0h/0h]${xprv}/0/*)`],
    ['an xprv among the keys of several', `wsh(sortedmulti(1,${publicKeyAt("m/48'", 'xpub')}/0/*,${xprv}/0/*))`],
    ['an xprv behind a wrong checksum', `wpkh(${xprv}/0/*)#aaaaaaaa`],
    ['a WIF key', wif],
    ['an uncompressed WIF key', '5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss'],
    ['a WIF key in a descriptor', `wpkh(${wif})`],
    ['a WIF key with an origin', `tr([73c5da0a/86h]${wif})`],
    ["a WIF key of Litecoin's", `pkh(T5b4RiWRs7XG8xZ2bCHBoJcn4JrpMTbGRFYXgoZHd7nD8izwqhMK)`],
    ["a WIF key in Electrum's form", `p2wpkh:${wif}`],
    ['a raw key', 'ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80'],
    ['a recovery phrase', MNEMONIC],
  ])('is refused as private, named as exposed and never repeated: %s', (_name, secret) => {
    for (const kind of ['xpub', 'descriptor'] as const) {
      expect(refusalOf(bitcoin, kind, secret)).toSatisfy(refusesAsExposed(secret));
    }
  });

  it('shows in no refusal, nor does any other part of what was given', () => {
    const words = fc.constantFrom(
      'wpkh(',
      'tr(',
      'sh(',
      '[',
      ']',
      ')',
      '/0/*',
      '/*h',
      '#',
      ',',
      '<0;1>',
      xprv,
      'zpub',
      'xpub',
    );
    const noise = fc.string({ minLength: 12, maxLength: 60, unit: 'grapheme-ascii' });
    fc.assert(
      fc.property(fc.array(fc.oneof(words, noise), { maxLength: 6 }), (parts) => {
        for (const kind of ['xpub', 'descriptor'] as const) {
          const check = parseUtxoWallet(bitcoin, { kind, text: parts.join('') });
          if (check.kind === 'ok') continue;
          for (const part of parts.filter(({ length }) => length >= 12))
            expect(refusalText(check.fault)).not.toContain(part);
        }
      }),
    );
  });
});

describe('a key that cannot be taken', () => {
  const zpub = publicKeyAt("m/84'/0'/0'", 'zpub');

  it.each([
    ['a main key on a test chain', testnet, publicKeyAt("m/84'/0'/0'", 'zpub'), 'BITCOIN_CHAIN=main'],
    ['a test key on the main chain', bitcoin, publicKeyAt("m/84'/1'/0'", 'vpub'), 'BITCOIN_CHAIN is main'],
    ["a main key on Litecoin's regtest", regtest, publicKeyAt("m/44'/2'/0'", 'Ltub'), 'LITECOIN_CHAIN=main'],
    ['a Litecoin key for Bitcoin', bitcoin, publicKeyAt("m/44'/2'/0'", 'Ltub'), 'this key as the wallet on litecoin'],
    ['one key of several signers', bitcoin, publicKeyAt("m/48'/0'/0'/2'", 'Zpub'), 'sortedmulti'],
    ['one key of several signers, wrapped', testnet, publicKeyAt("m/48'/1'/0'/1'", 'Upub'), 'sortedmulti'],
    ['a descriptor', bitcoin, `wpkh(${zpub}/0/*)`, 'as the descriptor'],
    ['a key with origin', bitcoin, `[73c5da0a/84h/0h/0h]${zpub}`, 'as the descriptor'],
    ['an address', bitcoin, 'bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu', 'single address'],
    ['an old address', litecoin, 'LUWPbpM43E2p7ZSh8cyTBEkvpHmr3cB8Ez', 'single address'],
    ['a public key', bitcoin, `02${'ab'.repeat(32)}`, 'single public key'],
    ['nothing', bitcoin, ' ', 'empty'],
    ['something else', litecoin, 'hello', 'xpub, ypub, zpub, Ltub or Mtub'],
    ['something else on a test chain', testnet, 'hello', 'tpub, upub or vpub'],
    ['far too much', bitcoin, `zpub${'1'.repeat(100_000)}`, 'damaged'],
    ['the master key', bitcoin, publicKeyAt('m', 'zpub'), 'depth 0'],
    ['a key above the account', bitcoin, publicKeyAt("m/84'/0'", 'zpub'), 'depth 2'],
    ['the key of one address', bitcoin, publicKeyAt("m/84'/0'/0'/0/0", 'zpub'), 'depth 5'],
    [
      'the change chain',
      bitcoin,
      publicKeyAt("m/84'/0'/0'/1", 'zpub'),
      'below /1, but receiving addresses are below /0',
    ],
    [
      'a hardened chain',
      bitcoin,
      publicKeyAt("m/84'/0'/0'/0'", 'zpub'),
      "below /0', but receiving addresses are below /0",
    ],
  ] as const)('is refused with the way out: %s', (_name, params, text, says) => {
    expect(refusalOf(params, 'xpub', text)).toContain(says);
  });

  it('is refused for one wrong character, a missing one, other version bytes, or private bytes behind a public version', () => {
    const wrong = zpub.slice(0, 60) + (zpub.charAt(60) === 'a' ? 'b' : 'a') + zpub.slice(61);
    const hidden = withVersion(MASTER.derive("m/84'/0'/0'").privateExtendedKey, VERSIONS.zpub);
    const other = withVersion(zpub, VERSIONS.zpub + 1);
    expect(other.startsWith('zpub')).toBe(true);
    for (const text of [wrong, zpub.slice(0, -1), `${zpub}1`, other, hidden]) {
      expect(refusalOf(bitcoin, 'xpub', text)).toContain('damaged');
    }
  });
});
