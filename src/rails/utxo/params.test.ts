import { hash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import type { UtxoNetwork } from '../../domain/networks.ts';
import { chainWithGenesis, utxoParams } from './params.ts';

/** Merkle roots of the genesis blocks of Bitcoin and Litecoin, as they are written. */
const MERKLE_ROOTS: Readonly<Record<UtxoNetwork, string>> = {
  bitcoin: '4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b',
  litecoin: '97ddfbbae6be97fd6cdf3e7ca13232a3afff2353e29badfab7f73011edd4ced9',
};

/** Testnet4 begins with words of its own. */
const TESTNET4_MERKLE_ROOT = '7aa0a7ae1e223414cb807e40cd57e667b718e42aaf9306db9102fe28912b7b4e';

describe('the parameters of a chain', () => {
  // Time, difficulty and nonce of block 0 in `chainparams.cpp` of Bitcoin Core and Litecoin Core.
  it.each([
    ['bitcoin', 'main', 1_231_006_505, 0x1d00ffff, 2_083_236_893],
    ['bitcoin', 'test', 1_296_688_602, 0x1d00ffff, 414_098_458],
    ['bitcoin', 'testnet4', 1_714_777_860, 0x1d00ffff, 393_743_547],
    ['bitcoin', 'signet', 1_598_918_400, 0x1e0377ae, 52_613_770],
    ['bitcoin', 'regtest', 1_296_688_602, 0x207fffff, 2],
    ['litecoin', 'main', 1_317_972_665, 0x1e0ffff0, 2_084_524_493],
    ['litecoin', 'test', 1_486_949_366, 0x1e0ffff0, 293_345],
    ['litecoin', 'regtest', 1_296_688_602, 0x207fffff, 0],
  ] as const)(
    'hold the hash of the genesis block of %s %s, by which it is found',
    (network, chain, time, bits, nonce) => {
      const header = Buffer.alloc(80);
      header.writeUInt32LE(1, 0);
      const root = chain === 'testnet4' ? TESTNET4_MERKLE_ROOT : MERKLE_ROOTS[network];
      header.set(Buffer.from(root, 'hex').toReversed(), 36);
      header.writeUInt32LE(time, 68);
      header.writeUInt32LE(bits, 72);
      header.writeUInt32LE(nonce, 76);
      const digest = hash('sha256', hash('sha256', header, 'buffer'), 'buffer');
      const params = utxoParams(network, chain);
      expect(params?.genesisHash).toBe(Buffer.from(digest.toReversed()).toString('hex'));
      expect(chainWithGenesis(params?.genesisHash ?? '')).toEqual(params);
    },
  );

  it('are missing for a chain that does not exist', () => {
    expect(utxoParams('litecoin', 'signet')).toBeNull();
    expect(chainWithGenesis('0'.repeat(64))).toBeNull();
  });
});
