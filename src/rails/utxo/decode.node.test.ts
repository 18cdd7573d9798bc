import { bytesToHex, hexToBytes } from '@noble/hashes/utils.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { Address, OutScript, RawTx, utils } from '@scure/btc-signer';
import { assert, bigInt, constantFrom, integer, property, uint8Array } from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startUtxoNode, utxoNodeKinds, type UtxoNode } from '../../../test/litecoind.ts';
import type { ChainBlock, ChainTransfer } from '../chain.ts';
import { MalformedAnswerError } from '../rpc/decode.ts';
import { createUtxoDecoder } from './decode.ts';
import { UTXO_NETWORKS, type UtxoNetwork } from '../../domain/networks.ts';
import { UTXO_CHAINS } from '../family.ts';
import { utxoParams } from './params.ts';
import { COINS, paramsOf } from './source.fixture.ts';

/** Outputs that have an address, in the words of Bitcoin Core. */
const KINDS = ['pubkeyhash', 'scripthash', 'witness_v0_keyhash', 'witness_v0_scripthash', 'witness_v1_taproot'];
/** A point of the curve, its generator: wallets see to it that what they pay to by taproot is one. */
const POINT = '79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798';

describe.each(utxoNodeKinds())('what a %s node serialises', (kind) => {
  let node: UtxoNode;
  beforeAll(async () => {
    node = await startUtxoNode({ kind, mweb: true });
    await node.fund();
  });
  afterAll(() => node.stop());

  it('shows every output that has an address, as the node itself reads them', async () => {
    const amounts: Record<string, string> = {};
    for (const type of ['legacy', 'p2sh-segwit', 'bech32']) amounts[await node.newAddress(type)] = '0.12345678';
    for (const script of [`0020${POINT}`, `5120${POINT}`]) {
      amounts[addressOf(kind, 'regtest', script)] = '0.1';
    }
    await node.rpc('sendmany', ['', amounts]);
    await pay(node, [{ data: 'c0ffee' }, { [await node.newAddress('legacy')]: '0.001' }]);
    const [hash = ''] = await node.mine(1);

    const shown = await inNodesWords(node, hash);
    expect(new Set(shown.kinds)).toEqual(new Set([...KINDS, 'nulldata']));
    const block = await decoded(node, hash);
    expect(block).toEqual(shown.block);
    expect(block.transfers.length).toBeGreaterThan(7);
  });

  it('shows the same for a transaction that waits as for the same one in a block', async () => {
    const hash = await node.send(await node.newAddress(), '1.5');
    const waiting = decoderOf(kind).transfers(await node.rpc('getrawtransaction', [hash]), hash);
    const [blockHash = ''] = await node.mine(1);
    const { transfers } = await decoded(node, blockHash);
    expect(waiting).toEqual(transfers.filter((transfer) => transfer.transactionHash === hash));
    expect(waiting.map(({ amount }) => amount)).toContain(150_000_000n);
  });

  it('shows what a transaction spends, as the node itself reads it, and never for another transaction', async () => {
    const hash = await node.send(await node.newAddress('legacy'), '60');
    const hex = await node.rpc('getrawtransaction', [hash]);
    const { vin } = Object(await node.rpc('decoderawtransaction', [hex]));
    const spent = Array.isArray(vin) ? vin.map(({ txid, vout }) => `${txid}:${vout}`) : [];
    expect(spent.length).toBeGreaterThan(1);
    expect(decoderOf(kind).inputs(hex, hash)).toEqual(spent);
    expect(() => decoderOf(kind).inputs(hex, '0'.repeat(64))).toThrow(MalformedAnswerError);
    await node.mine(1);
  });

  it('is never read as another block, whichever bit is wrong and wherever it is cut', async () => {
    await node.send(await node.newAddress('p2sh-segwit'), '1');
    const [hash = ''] = await node.mine(1);
    const hex = String(await node.rpc('getblock', [hash, 0]));
    const bytes = hexToBytes(hex);
    const height = Number(await node.rpc('getblockcount'));
    const right = decoderOf(kind).block(hex, height, hash);
    const readsAs = (damaged: Uint8Array): ChainBlock => {
      try {
        return decoderOf(kind).block(bytesToHex(damaged), height, hash);
      } catch (fault) {
        if (fault instanceof MalformedAnswerError) return right;
        throw fault;
      }
    };
    assert(
      property(integer({ min: 0, max: bytes.length * 8 - 1 }), (bit) => {
        const damaged = Uint8Array.from(bytes, (byte, at) => (at === bit >> 3 ? byte ^ (1 << (bit & 7)) : byte));
        expect(readsAs(damaged)).toEqual(right);
      }),
      { numRuns: 2_000 },
    );
    assert(
      property(integer({ min: 0, max: bytes.length - 1 }), (length) => {
        expect(() => decoderOf(kind).block(bytesToHex(bytes.subarray(0, length)), height, hash)).toThrow(
          MalformedAnswerError,
        );
      }),
    );
    expect(() => decoderOf(kind).block(`${hex}00`, height, hash)).toThrow('the block is not a whole block');
    expect(() => decoderOf(kind).block(hex, height, '0'.repeat(64))).toThrow('the block is not the requested one');
    for (const other of [`${hex}0`, hex.replace(/.$/, 'g'), null, { hex }]) {
      expect(() => decoderOf(kind).block(other, height, hash)).toThrow('the block is not hex');
    }
  });

  it.runIf(kind === 'litecoin')('shows what goes into MWEB, stays there and comes out again', async () => {
    await node.mine(431 - Number(await node.rpc('getblockcount')));
    const pegIn = await node.pegIn('20');
    const waiting = decoderOf(kind).transfers(await node.rpc('getrawtransaction', [pegIn]), pegIn);
    const hashes = [...(await node.mine(1))];

    // Only coins inside are left to pay with, so that one transaction has nothing outside and the other comes out.
    await node.rpc('lockunspent', [false, await coinsOutside(node)]);
    const inside = await node.send(await node.newAddress('mweb'), '3');
    expect(decoderOf(kind).transfers(await node.rpc('getrawtransaction', [inside]), inside)).toEqual([]);
    hashes.push(...(await node.mine(1)));
    const outside = await node.newAddress('legacy');
    await node.rpc('lockunspent', [false, await coinsOutside(node)]);
    await node.send(outside, '5');
    hashes.push(...(await node.mine(2)));

    const blocks = [];
    for (const hash of hashes) {
      const block = await decoded(node, hash);
      expect(block).toEqual((await inNodesWords(node, hash)).block);
      blocks.push(block);
    }
    const all = blocks.flatMap(({ transfers }) => transfers);
    expect(all.filter(({ transactionHash }) => transactionHash === pegIn)).toEqual(waiting);
    expect(all.filter(({ address }) => address === outside)).toMatchObject([{ amount: 500_000_000n }]);
  });
});

describe('an output', () => {
  const digest = uint8Array({ minLength: 32, maxLength: 32 });
  const scripts: ReadonlyArray<(hash: string) => string> = [
    (hash) => `76a914${hash.slice(0, 40)}88ac`,
    (hash) => `a914${hash.slice(0, 40)}87`,
    (hash) => `0014${hash.slice(0, 40)}`,
    (hash) => `0020${hash}`,
    (hash) => `5120${bytesToHex(utils.pubSchnorr(hexToBytes(hash)))}`,
  ];

  it('has the address that wallets of its chain write for it, and exactly its amount', () => {
    for (const network of UTXO_NETWORKS) {
      for (const chain of UTXO_CHAINS) {
        const params = utxoParams(network, chain);
        if (!params) continue;
        const decoder = createUtxoDecoder(COINS[network], params.address);
        const amounts = bigInt({ min: 1n, max: 84_000_000n * 100_000_000n });
        assert(
          property(digest, constantFrom(...scripts), amounts, (hash, scriptOf, amount) => {
            const script = scriptOf(bytesToHex(hash));
            const address = addressOf(network, chain, script);
            const { hex, id } = transaction([{ amount, script: hexToBytes(script) }]);
            expect(decoder.transfers(hex, id)).toEqual([
              { transactionHash: id, index: 0, address, asset: COINS[network], amount },
            ]);
          }),
        );
      }
    }
  });

  it('is no transfer when it pays nothing, or to a script without an address', () => {
    const [payable] = scripts.map((scriptOf) => scriptOf('5a'.repeat(32)));
    const key = `21${'02'.repeat(33)}ac`;
    const others = [
      '',
      '6a',
      key,
      '51024e73',
      `5114${'5a'.repeat(20)}`,
      `5820${'5a'.repeat(32)}`,
      `0021${'5a'.repeat(33)}`,
    ];
    const { hex, id } = transaction([
      { amount: 0n, script: hexToBytes(payable ?? '') },
      ...others.map((script) => ({ amount: 7n, script: hexToBytes(script) })),
      { amount: 9n, script: hexToBytes(payable ?? '') },
    ]);
    expect(decoderOf('bitcoin').transfers(hex, id)).toMatchObject([{ index: others.length + 1, amount: 9n }]);
  });

  it('that claims more than there are coins is refused', () => {
    const { hex, id } = transaction([{ amount: 84_000_000n * 100_000_000n + 1n, script: hexToBytes('6a') }]);
    expect(() => decoderOf('bitcoin').transfers(hex, id)).toThrow('an amount is not within the supply');
  });

  it('of a transaction that was not asked for is refused', () => {
    const { hex } = transaction([{ amount: 1n, script: hexToBytes('6a') }]);
    expect(() => decoderOf('bitcoin').transfers(hex, '0'.repeat(64))).toThrow('not the requested one');
    expect(() => decoderOf('bitcoin').transfers(hex.slice(0, 40), '0'.repeat(64))).toThrow('not complete');
    expect(() => decoderOf('bitcoin').transfers(undefined, '0'.repeat(64))).toThrow('the transaction is not hex');
  });
});

function decoderOf(network: UtxoNetwork): ReturnType<typeof createUtxoDecoder> {
  return createUtxoDecoder(COINS[network], paramsOf(network).address);
}

function addressOf(network: UtxoNetwork, chain: (typeof UTXO_CHAINS)[number], script: string): string {
  return Address(paramsOf(network, chain).address).encode(OutScript.decode(hexToBytes(script)));
}

function transaction(outputs: { amount: bigint; script: Uint8Array }[]): { hex: string; id: string } {
  const input = { txid: new Uint8Array(32), index: 0, finalScriptSig: Uint8Array.of(1, 1), sequence: 0 };
  const bytes = RawTx.encode({
    version: 2,
    segwitFlag: false,
    inputs: [input],
    outputs,
    witnesses: undefined,
    lockTime: 5,
  });
  return { hex: bytesToHex(bytes), id: bytesToHex(sha256(sha256(bytes)).toReversed()) };
}

async function pay(node: UtxoNode, outputs: readonly unknown[]): Promise<void> {
  const raw = await node.rpc('createrawtransaction', [[], outputs]);
  const { hex: funded } = Object(await node.rpc('fundrawtransaction', [raw]));
  const { hex: signed } = Object(await node.rpc('signrawtransactionwithwallet', [funded]));
  await node.rpc('sendrawtransaction', [signed]);
}

async function coinsOutside(node: UtxoNode): Promise<unknown> {
  const coins: unknown = await node.rpc('listunspent', [0]);
  return (Array.isArray(coins) ? coins : []).filter((coin) => 'vout' in coin).map(({ txid, vout }) => ({ txid, vout }));
}

async function decoded(node: UtxoNode, hash: string): Promise<ChainBlock> {
  const { height } = Object(await node.rpc('getblockheader', [hash]));
  return decoderOf(node.kind).block(await node.rpc('getblock', [hash, 0]), Number(height), hash);
}

/** The block from the node's own JSON, with the kinds of all outputs. */
async function inNodesWords(
  node: UtxoNode,
  blockHash: string,
): Promise<{ readonly block: ChainBlock; readonly kinds: readonly string[] }> {
  const { height, hash, previousblockhash, time, tx } = Object(await node.rpc('getblock', [blockHash, 2]));
  const kinds: string[] = [];
  const transfers: ChainTransfer[] = [];
  for (const { txid, vout } of tx) {
    for (const { n, value, scriptPubKey } of vout) {
      kinds.push(scriptPubKey.type);
      if (!KINDS.includes(scriptPubKey.type)) continue;
      const address: string = scriptPubKey.address ?? scriptPubKey.addresses[0];
      const amount = BigInt(Number(value).toFixed(8).replace('.', ''));
      transfers.push({ transactionHash: txid, index: n, address, asset: COINS[node.kind], amount });
    }
  }
  return { block: { height, hash, parentHash: previousblockhash, timeMs: time * 1_000, transfers }, kinds };
}
