import { Address } from '@scure/btc-signer';
import type { SpendingWatch } from '../chain.ts';
import type { RpcPool } from '../rpc/pool.ts';
import type { UtxoDecoder } from './decode.ts';
import type { UtxoParams } from './params.ts';
import { rawTransactions } from './raw-transactions.ts';
import { sendTransaction } from './send-transaction.ts';
import { parseUtxoWallet } from './wallet.ts';

/**
 * Reads the data that must be saved of a chain of the UTXO family, so that a wallet's money can be spent later even
 * with a pruned node.
 */
export function createSpendingWatch(pool: RpcPool, decoder: UtxoDecoder, params: UtxoParams): SpendingWatch {
  return {
    changeOf: ({ kind, text }) => {
      if (kind === 'treasury') return null;
      const parsed = parseUtxoWallet(params, { kind, text });
      if (parsed.kind === 'invalid' || parsed.deriver.changeAt(0) === null) return null;
      const { deriver } = parsed;
      return (index) => {
        const output = deriver.changeAt(index);
        if (output === null) throw new Error('the wallet has no change chain');
        return output.address;
      };
    },
    wholeTransactions: async (block, transfers) => {
      const hashes = transfers.filter(({ address }) => isP2pkh(params, address)).map((one) => one.transactionHash);
      const wanted = [...new Set(hashes)].map((txid) => ({ txid, blockHash: block.hash }));
      const found = await rawTransactions(pool, wanted);
      return new Map(
        wanted.flatMap(({ txid }, place) => {
          const hex = found[place] ?? null;
          if (hex === null) return [];
          // Throws for bytes of another transaction.
          decoder.transfers(hex, txid);
          return [[txid, Buffer.from(hex, 'hex')] as const];
        }),
      );
    },
    send: (hex) => sendTransaction(pool, hex),
    inputsOf: async (block, hashes) => {
      const wanted = hashes.map((txid) => ({ txid, blockHash: block?.hash ?? null }));
      const found = await rawTransactions(pool, wanted);
      return new Map(
        hashes.flatMap((txid, place) => {
          const hex = found[place] ?? null;
          return hex === null ? [] : [[txid, decoder.inputs(hex, txid)] as const];
        }),
      );
    },
  };
}

/** Signatures for such outputs do not commit to the amount, so signers read it from the whole transaction (BIP 174). */
export function isP2pkh(params: UtxoParams, address: string): boolean {
  return Address(params.address).decode(address).type === 'pkh';
}
