import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startUtxoNode, utxoNodeKindsFor, type UtxoNode } from '../../../test/litecoind.ts';
import { nodeLike } from '../../rails/utxo/source.fixture.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { COIN, CONFIRMATIONS, refundShop, type RefundShop } from './refund-psbt.fixture.ts';

/** Nobody's: a wallet that is told of each block makes mining slow. */
const MINER = {
  bitcoin: 'bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080',
  litecoin: 'rltc1qw508d6qejxtdg4y5r3zarvary0c5xw7k5ljuhl',
};
const REFUSAL = { error: { code: -1, message: 'Block not available' } };

describe.each(utxoNodeKindsFor(import.meta.url))('a refund of an old payment, on a pruned %s node', (kind) => {
  let node: UtxoNode;
  beforeAll(async () => {
    // Litecoin Core cuts its files at 128 MB, so that a short chain is never pruned: there the answers are those of a
    // pruned node.
    node = await startUtxoNode({ kind, options: kind === 'bitcoin' ? ['-prune=1', '-fastprune'] : [] });
    await node.mine(160);
  });
  afterAll(() => node.stop());

  /** Prunes the blocks that were mined so far; answers with the URL of the pruned node. */
  async function prune(shop: RefundShop): Promise<string> {
    const height = Number(await node.rpc('getblockcount'));
    if (kind === 'litecoin') {
      const relay = await nodeLike(node, ({ method, params }) =>
        method === 'getrawtransaction' && Array.isArray(params) && params.length === 3 ? REFUSAL : null,
      );
      return relay.url;
    }
    // Files of some 250 blocks are pruned as a whole.
    await node.mine(288 + 300, MINER[kind]);
    await shop.follow();
    await node.rpc('pruneblockchain', [height + 300]);
    const hash = await node.rpc('getblockhash', [height]);
    expect(await node.answer('getblock', [hash, 0])).toMatchObject({ error: { code: -1 } });
    return node.url;
  }

  it.each(['p2pkh', 'p2wpkh', 'p2tr'] as const)(
    'works: what its signer needs was kept when the money came in (%s)',
    { timeout: 300_000 },
    async (form) => {
      const shop = await refundShop(node, { form });
      const payment = await shop.paid(COIN);
      const change = await shop.refund(payment, COIN / 10n);
      if (form !== 'p2tr' || kind === 'bitcoin') await shop.pay(change);
      await shop.mine(CONFIRMATIONS);
      const urls = [await prune(shop)];
      // The second one spends the change of the first, which is as old.
      const refund = await shop.refund(payment, COIN / 4n);
      const shown = await shop.psbtOf(refund, { urls });
      const input = shown.transaction.getInput(0);
      expect({ whole: input.nonWitnessUtxo !== undefined, amount: input.witnessUtxo !== undefined }).toEqual({
        whole: form === 'p2pkh',
        amount: form !== 'p2pkh',
      });
      expect(await shop.psbtOf(refund, { urls })).toMatchObject({ spends: shown.spends });
      const signed = shop.signed(shown);
      await node.rpc('sendrawtransaction', [signed.hex]);
      await shop.mine(CONFIRMATIONS);
      expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed' });
    },
  );

  it(
    'that was paid before transactions were kept says which node could help, and works with one that does',
    { timeout: 300_000 },
    async () => {
      const shop = await refundShop(node, { form: 'p2pkh' });
      const payment = await shop.paid(COIN);
      const kept = await shop.app.db.selectFrom('raw_transactions').selectAll().executeTakeFirstOrThrow();
      const { transaction_hash: hash, bytes } = kept;
      const { block_height: height } = await shop.app.db
        .selectFrom('transfers')
        .select('block_height')
        .executeTakeFirstOrThrow();
      await shop.app.db.deleteFrom('raw_transactions').execute();
      const pruned = await prune(shop);
      const refund = await shop.refund(payment, COIN / 4n);
      const advice = `block ${height} was pruned\\. Add a node that still has block ${height}.*${kind.toUpperCase()}_RPC_URL`;
      expect(await shop.show(refund, { urls: [pruned] })).toMatchObject({
        paymentUri: expect.stringContaining(`${kind}:`),
        psbt: { kind: 'none', message: expect.stringMatching(new RegExp(`${hash}.* ${advice}`)) },
      });
      const archive = await nodeLike(node, ({ method, params }) =>
        method === 'getrawtransaction' && Array.isArray(params) && params[0] === hash
          ? { result: bytes.toString('hex') }
          : null,
      );
      const shown = await shop.psbtOf(refund, { urls: [pruned, archive.url] });
      expect(shown.transaction.getInput(0).nonWitnessUtxo).toBeDefined();
      // Shown once, it can be shown again without that node.
      expect(await shop.psbtOf(refund, { urls: [pruned] })).toMatchObject({ spends: shown.spends });
    },
  );

  it('passes over coins that cannot be signed for where others can', async () => {
    const shop = await refundShop(node, { form: 'p2pkh' });
    const payment = await shop.paid(COIN);
    await shop.app.db.deleteFrom('raw_transactions').execute();
    const pruned = await prune(shop);
    const later = await shop.paid(COIN);
    expect(later.status).toBe('completed');
    const newest = await shop.app.db
      .selectFrom('raw_transactions')
      .select('transaction_hash')
      .executeTakeFirstOrThrow();
    const refund = await shop.refund(payment, COIN / 4n);
    const shown = await shop.psbtOf(refund, { urls: [pruned] });
    expect(shown.spends).toEqual([expect.stringContaining(newest.transaction_hash)]);
  });
});
