import { parseUnits } from 'viem';
import { startUtxoNode } from '../litecoind.ts';
import { accountKey } from '../e2e/live-utxo.fixture.ts';
import { payerOf, type Signed } from '../e2e/live-utxo-nodes.fixture.ts';
import { reader } from './ledger.ts';
import { startNode, type NodeAnswer, type NodeCall } from '../rpc-node.ts';
import { amountFor, newOrder, send, type Chain, type Movement, type Pay, type WeightedMove } from './scene.ts';

export interface BitcoinChain extends Chain {
  /** Replaces the transaction that paid by one that pays an address something else. */
  replace(address: string, units: bigint, hash: string): Promise<string>;
}

/** So many blocks give the wallet coins to spend. */
const MATURED = 180;
/** Three times what the payer pays otherwise. */
const REPLACING_FEE = 300_000n;

/** A Bitcoin node on a chain of its own, with coins to spend. */
export async function startBitcoin(): Promise<BitcoinChain> {
  const node = await startUtxoNode({ kind: 'bitcoin' });
  await node.mine(MATURED);
  const payer = payerOf(node);
  const signed = new Map<string, Signed>();
  let instead: (call: NodeCall) => NodeAnswer | null = () => null;
  const door = await startNode(async (call) => instead(call) ?? (await node.answer(call.method, call.params)));

  const pay: Pay = async (address, _asset, units) => {
    const sent = await payer.pay([[address, units]]);
    signed.set(sent.hash, sent);
    return sent.hash;
  };

  return {
    network: 'bitcoin',
    env: { BITCOIN_RPC_URL: door.url, BITCOIN_CHAIN: 'regtest' },
    wallet: `--descriptor wpkh(${accountKey()}/0/*)`,
    assets: ['BTC'],
    replace: async (address, units, hash) => {
      const coin = signed.get(hash)?.coin;
      if (coin === undefined) throw new Error(`The accountant did not send ${hash}.`);
      const other = await payer.sign([[address, units]], { coin, feeUnits: REPLACING_FEE });
      await payer.broadcast(other);
      return other.hash;
    },
    intercept: (answer) => {
      instead = answer;
    },
    pay,
    mine: async (count) => void (await node.mine(count)),
    reorganise: (_random, depth) => payer.reorganise(depth),
    payAnew: async (order, hash) => {
      const first = signed.get(hash);
      const { blockheight } = Object(await node.rpc('gettransaction', [hash]));
      if (first === undefined || blockheight === undefined) return;
      const other = await payer.sign([[order.address, order.owed]], { coin: first.coin, feeUnits: REPLACING_FEE });
      await payer.reorganise((await payer.height()) - Number(blockheight) + 1, [other]);
    },
    isKnown: async (hash) => Number(Object(await node.rpc('gettransaction', [hash])).confirmations) >= 0,
    newAddress: () => node.newAddress(),
    head: () => payer.height(),
    read: reader({
      first: MATURED,
      head: () => payer.height(),
      hashAt: async (height) => String(await node.rpc('getblockhash', [height])),
      movementsAt: async (height) =>
        movementsOf(await node.rpc('getblock', [await node.rpc('getblockhash', [height]), 2])),
    }),
    stop: async () => {
      await door.stop();
      await node.stop();
    },
  };
}

export function bitcoinMoves(chain: BitcoinChain): readonly WeightedMove[] {
  return [
    [
      2,
      'replace',
      // A transaction that waits gives way to one that pays more fee, and mostly something else to the shop.
      async (scene) => {
        const order = await newOrder(scene);
        if (order === null) return;
        const hash = await send(scene, order, amountFor(scene, order));
        const replace = (address: string, _asset: string, units: bigint) => chain.replace(address, units, hash);
        await send(scene, order, amountFor(scene, order), replace, 'replaced, by');
      },
    ],
  ];
}

interface Block {
  readonly tx: readonly {
    readonly txid: string;
    readonly vout: readonly { readonly value: number; readonly scriptPubKey: { readonly address?: string } }[];
  }[];
}

function movementsOf(answer: unknown): readonly Movement[] {
  // Bitcoin Core's own JSON, as `getblock` with verbosity 2 writes it.
  return (answer as Block).tx.flatMap(({ txid, vout }) =>
    vout.flatMap(({ value, scriptPubKey: { address } }): readonly Movement[] =>
      address === undefined
        ? []
        : [{ asset: 'BTC', from: null, to: address, units: parseUnits(value.toFixed(8), 8), hash: txid }],
    ),
  );
}
