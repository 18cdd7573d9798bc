import { Transaction } from '@scure/btc-signer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startUtxoNode, utxoNodeKinds, type UtxoNode } from '../../../test/litecoind.ts';
import { formatDecimal } from '../../domain/money.ts';
import { buildRefundPsbt, type RefundInput } from './psbt.ts';
import { paramsOf, publicKeyAt, signAll, walletOf } from './wallet.fixture.ts';
import type { WalletOutput } from './output.ts';
import type { UtxoDeriver } from './wallet.ts';

const FEE_UNITS_PER_KVB = 20_000n;
const COIN = 100_000_000n;

function keyAt(path: string): string {
  return `[73c5da0a${path.slice(1)}]${publicKeyAt(path, 'tpub')}/0/*`;
}

/**
 * One wallet of each kind, all of the published phrase. Litecoin Core 0.21 does not know `tr`; its chain has Taproot.
 */
const DESCRIPTORS = {
  pkh: `pkh(${keyAt("m/44'/1'/0'")})`,
  'sh(wpkh)': `sh(wpkh(${keyAt("m/49'/1'/0'")}))`,
  wpkh: `wpkh(${keyAt("m/84'/1'/0'")})`,
  wsh: `wsh(sortedmulti(2,${["m/48'/1'/0'/2'", "m/48'/1'/1'/2'", "m/48'/1'/2'/2'"].map(keyAt).join(',')}))`,
  tr: `tr(${keyAt("m/86'/1'/0'")})`,
};

for (const kind of utxoNodeKinds()) {
  describe(`beside a real ${kind} node, a wallet`, () => {
    const params = paramsOf(kind, 'regtest');
    let node: UtxoNode;

    beforeAll(async () => {
      node = await startUtxoNode({ kind, mweb: kind === 'litecoin' });
      await node.fund();
    });
    afterAll(() => node.stop());

    const forms = Object.entries(DESCRIPTORS).filter(([name]) => name !== 'tr' || kind === 'bitcoin');

    it.each(forms)("derives the node's own addresses, and stores what the node accepts: %s", async (_name, text) => {
      const { deriver, source } = walletOf(params, 'descriptor', text);
      const first = await node.rpc('deriveaddresses', [source, [0, 19]]);
      expect(Array.from({ length: 20 }, (_, index) => deriver.addressAt(index))).toEqual(first);
      const far = await node.rpc('deriveaddresses', [source, [2 ** 31 - 1, 2 ** 31 - 1]]);
      expect([deriver.addressAt(2 ** 31 - 1)]).toEqual(far);
    });

    it.each(Object.entries(DESCRIPTORS))(
      'pays a refund that the node accepts, mines and sees arrive: %s',
      async (name, text) => {
        const { deriver } = walletOf(params, 'descriptor', text);
        const inputs = [await pay(deriver, 0, COIN / 2n), await pay(deriver, 1, COIN / 4n)];
        await node.mine(1);
        const address = await node.newAddress();
        const units = 60_000_001n;
        const psbt = refundOf(inputs, address, units);
        // The node finds that the PSBT needs nothing but signatures. For Taproot neither node can tell: Litecoin Core
        // 0.21 does not support it, and Bitcoin Knots 29 asks for what it does not need.
        const next = name === 'tr' ? 'updater' : 'signer';
        expect(await node.rpc('analyzepsbt', [psbt])).toMatchObject({ next });
        const transaction = signed(psbt);
        expect(await node.rpc('sendrawtransaction', [transaction.hex])).toBe(transaction.id);
        expect(await node.rpc('getmempoolentry', [transaction.id])).toMatchObject({ 'bip125-replaceable': true });
        await node.mine(1);
        expect(await node.rpc('getreceivedbyaddress', [address])).toBe(Number(formatDecimal(units, 8)));
      },
    );

    it('may be paid by a miner: such a coin goes into a refund too', async () => {
      const output = walletOf(params, 'descriptor', DESCRIPTORS.pkh).deriver.outputAt(30);
      const [block = ''] = await node.mine(1, output.address);
      await node.mine(100);
      expect(await broadcast(await inputIn(block, output))).toMatch(/^[0-9a-f]{64}$/);
    });

    it.runIf(kind === 'litecoin')('may be paid out of MWEB: such a coin goes into a refund too', async () => {
      const output = walletOf(params, 'descriptor', DESCRIPTORS.pkh).deriver.outputAt(31);
      const height = Number(await node.rpc('getblockcount'));
      await node.mine(Math.max(0, 431 - height));
      await node.pegIn('5');
      await node.mine(1);
      // With all other coins locked, the wallet has to pay with the one in MWEB.
      const coins = await node.rpc('listunspent');
      const others = Array.isArray(coins)
        ? coins.filter((coin: object) => 'vout' in coin && !('output_id' in coin))
        : [];
      await node.rpc('lockunspent', [false, others.map(({ txid, vout }) => ({ txid, vout }))]);
      await node.send(output.address, '1');
      await node.rpc('lockunspent', [true]);
      const [block = ''] = await node.mine(1);
      // Payments out of MWEB can be spent six blocks later.
      await node.mine(6);
      const input = await inputIn(block, output);
      expect(input.rawTransaction?.slice(8, 12)).toBe('0008');
      expect(await broadcast(input)).toMatch(/^[0-9a-f]{64}$/);
    });

    function refundOf(inputs: readonly RefundInput[], address: string, units: bigint): string {
      const change = walletOf(params, 'descriptor', DESCRIPTORS.wpkh).deriver.outputAt(99);
      const payTo = [{ address, units }];
      const result = buildRefundPsbt({ params, inputs, payTo, change, feeUnitsPerKvb: FEE_UNITS_PER_KVB });
      if (result.kind !== 'ok') throw new Error(result.message.code);
      return result.psbt;
    }

    /** The input of the transaction in `block` that pays `output`. */
    async function inputIn(block: string, output: WalletOutput): Promise<RefundInput> {
      for (const txid of transactionsOf(await node.rpc('getblock', [block]))) {
        const input = await inputOf(txid, output, block);
        if (input) return input;
      }
      throw new Error('no transaction of the block pays the wallet');
    }

    /** Refunds nearly all of the input; answers with the id that the node takes the transaction under. */
    async function broadcast(input: RefundInput): Promise<string> {
      const transaction = signed(refundOf([input], await node.newAddress(), input.amountUnits - 1_000_000n));
      return String(await node.rpc('sendrawtransaction', [transaction.hex]));
    }

    /** Pays the wallet's address number `index`. */
    async function pay(deriver: UtxoDeriver, index: number, amountUnits: bigint): Promise<RefundInput> {
      const output = deriver.outputAt(index);
      const input = await inputOf(await node.send(output.address, formatDecimal(amountUnits, 8)), output);
      if (!input) throw new Error('the transaction does not pay the wallet');
      return input;
    }

    async function inputOf(txid: string, output: WalletOutput, block?: string): Promise<RefundInput | null> {
      const rawTransaction = String(await node.rpc('getrawtransaction', [txid, false, ...(block ? [block] : [])]));
      const paid = outputsOf(await node.rpc('decoderawtransaction', [rawTransaction])).find(
        ({ script }) => script === Buffer.from(output.script).toString('hex'),
      );
      return paid ? { txid, vout: paid.vout, amountUnits: paid.units, output, rawTransaction } : null;
    }
  });
}

function signed(psbt: string): Transaction {
  const transaction = Transaction.fromPSBT(Buffer.from(psbt, 'base64'));
  signAll(transaction);
  transaction.finalize();
  return transaction;
}

function transactionsOf(block: unknown): readonly string[] {
  if (typeof block !== 'object' || block === null || !('tx' in block) || !Array.isArray(block.tx)) {
    throw new TypeError('the node gave no block');
  }
  return block.tx.map(String);
}

interface PaidOutput {
  readonly vout: number;
  readonly units: bigint;
  readonly script: string;
}

function outputsOf(decoded: unknown): readonly PaidOutput[] {
  if (typeof decoded !== 'object' || decoded === null || !('vout' in decoded) || !Array.isArray(decoded.vout)) {
    throw new TypeError('the node gave no transaction');
  }
  return decoded.vout.map((output: { n: number; value: number; scriptPubKey: { hex: string } }) => ({
    vout: output.n,
    units: BigInt(Math.round(output.value * 1e8)),
    script: output.scriptPubKey.hex,
  }));
}
