import { secp256k1 } from '@noble/curves/secp256k1.js';
import { HDKey } from '@scure/bip32';
import { p2ms, p2pkh, p2sh, p2tr, p2wpkh, p2wsh } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { encodePacked, getContractAddress, keccak256, toHex } from 'viem';
import { publicKeyToAddress } from 'viem/accounts';
import { expect, it, onTestFinished } from 'vitest';
import { testApp } from '../../../test/harness.ts';
import { tokenOf } from '../../domain/asset.ts';
import type { Network } from '../../domain/networks.ts';
import { chainRail } from '../../modes/live-rail.ts';
import { createAddressThread } from '../../rails/address-thread.ts';
import { createAddressesAhead } from '../../rails/addresses-ahead.ts';
import { DEPOSIT_FACTORY } from '../../rails/evm/deposit.ts';
import type { WalletSource } from '../../rails/family.ts';
import { MAIN_CHAINS, utxoParams } from '../../rails/utxo/params.ts';
import { createWalletOpener } from '../../rails/wallet.ts';
import { fixedRates } from '../../rates/fixed.ts';
import { setProjectWallet } from '../projects/wallets.ts';
import { selectToken } from './payment-actions.ts';

const { Point } = secp256k1;
const MAX_INDEX = 2 ** 31 - 100;
const TREASURY = '0x52908400098527886E0F7030069857D2E4169EE7';
const PRICES = new Map((['BTC', 'LTC', 'ETH'] as const).map((asset) => [asset, 100_000_000_000n] as const));
const TOKENS = [tokenOf('BTC'), tokenOf('LTC'), tokenOf('ETH')].filter((token) => token !== null);

/** The address with an index of accounts' extended public keys, as libraries alone make it. */
type Reference = (keyAt: (account: number, index: number) => Uint8Array, index: number) => string | undefined;

interface Kind {
  readonly network: Network;
  readonly source: (xpub: (account: number) => string) => WalletSource;
  readonly reference: Reference;
}

const descriptor = (text: string): WalletSource => ({ kind: 'descriptor', text });
const bitcoin = utxoParams('bitcoin', 'main')?.address;
const litecoin = utxoParams('litecoin', 'main')?.address;

const KINDS: Readonly<Record<string, Kind>> = {
  P2PKH: {
    network: 'bitcoin',
    source: (xpub) => ({ kind: 'xpub', text: xpub(0) }),
    reference: (keyAt, index) => p2pkh(keyAt(0, index), bitcoin).address,
  },
  P2WPKH: {
    network: 'bitcoin',
    source: (xpub) => descriptor(`wpkh(${xpub(0)}/0/*)`),
    reference: (keyAt, index) => p2wpkh(keyAt(0, index), bitcoin).address,
  },
  'P2SH-P2WPKH of Litecoin': {
    network: 'litecoin',
    source: (xpub) => descriptor(`sh(wpkh(${xpub(0)}/0/*))`),
    reference: (keyAt, index) => p2sh(p2wpkh(keyAt(0, index), litecoin), litecoin).address,
  },
  Taproot: {
    network: 'bitcoin',
    source: (xpub) => descriptor(`tr(${xpub(0)}/0/*)`),
    reference: (keyAt, index) => p2tr(keyAt(0, index).subarray(1), undefined, bitcoin).address,
  },
  multisignature: {
    network: 'bitcoin',
    source: (xpub) => descriptor(`wsh(sortedmulti(2,${xpub(0)}/0/*,${xpub(1)}/0/*,${xpub(2)}/0/*))`),
    reference: (keyAt, index) => {
      const keys = [0, 1, 2].map((account) => keyAt(account, index)).toSorted((a, b) => Buffer.compare(a, b));
      return p2wsh(p2ms(2, keys), bitcoin).address;
    },
  },
  'an Ethereum key': {
    network: 'ethereum',
    source: (xpub) => ({ kind: 'xpub', text: xpub(0) }),
    reference: (keyAt, index) => publicKeyToAddress(`0x${Point.fromBytes(keyAt(0, index)).toHex(false)}`),
  },
  'deposit contracts': {
    network: 'ethereum',
    source: () => ({ kind: 'treasury', text: TREASURY }),
    // ERC-1167 with the treasury as its immutable argument.
    reference: (_, index) =>
      getContractAddress({
        opcode: 'CREATE2',
        from: DEPOSIT_FACTORY.address as `0x${string}`,
        salt: toHex(index, { size: 32 }),
        bytecodeHash: keccak256(
          encodePacked(
            ['bytes', 'address', 'bytes', 'address'],
            [
              '0x6100413d81600a3d39f3363d3d373d3d3d363d73',
              DEPOSIT_FACTORY.implementation as `0x${string}`,
              '0x5af43d82803e903d91602b57fd5bf3',
              TREASURY,
            ],
          ),
        ),
      }),
  },
};

it.each(Object.entries(KINDS))(
  'each address that a customer gets is what libraries derive, of any key and at any index: %s',
  async (_name, { network, source, reference }) => {
    const thread = createAddressThread(MAIN_CHAINS);
    const ahead = createAddressesAhead(thread.derive);
    onTestFinished(async () => {
      ahead.stop();
      await thread.stop();
    });
    const app = await testApp({
      live: ({ db }) =>
        chainRail({
          db,
          rates: fixedRates(PRICES),
          tokens: TOKENS,
          openWallet: createWalletOpener(MAIN_CHAINS),
          derive: thread.derive,
          nextAddresses: ahead.take,
          evmChain: () => null,
          payoutChain: () => 'main',
        }),
    });
    const token = TOKENS.find((one) => one.network === network) ?? null;
    const cases = fc.tuple(fc.nat(255), fc.nat(MAX_INDEX), fc.integer({ min: 1, max: 6 }));
    await fc.assert(
      fc.asyncProperty(cases, async ([seed, from, count]) => {
        const master = HDKey.fromMasterSeed(new Uint8Array(32).fill(seed));
        const account = (number: number) => master.derive(`m/44'/0'/${number}'`);
        const wallet = source((number) => account(number).publicExtendedKey);
        const terms = { confirmations: null, toleranceBasisPoints: null };
        const set = await setProjectWallet(
          app,
          { projectId: app.projectId, network, source: wallet, ...terms },
          MAIN_CHAINS,
        );
        if (set.kind !== 'done') throw new Error(set.code);
        // A case may have the indexes of another one.
        await app.db.deleteFrom('payment_addresses').execute();
        const { firstAddress } = set.wallet;
        const next = { next_index: from };
        await app.db.updateTable('address_indexes').set(next).where('first_address', '=', firstAddress).execute();
        const orders = await Promise.all(Array.from({ length: count }, () => app.pay({ mode: 'live', token })));
        const transaction = await app.pay({ mode: 'live', api: 'transaction', token: null });
        const chosen = await selectToken(app, { id: transaction.id }, { asset: token?.asset ?? '', network });
        if (chosen.kind !== 'changed') throw new Error(chosen.kind);
        const issued = [...orders, chosen.payment].map(({ quote }) => quote?.address);
        const keyAt = (number: number, index: number) =>
          account(number).derive(`m/0/${index}`).publicKey ?? new Uint8Array();
        const expected = Array.from({ length: count + 1 }, (_, place) => reference(keyAt, from + place));
        expect(new Set(issued)).toEqual(new Set(expected));
      }),
      { numRuns: 4 },
    );
  },
);
