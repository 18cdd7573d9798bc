import { Transaction } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { utxoNodeKinds, utxoNodeKindsFor } from '../../../test/litecoind.ts';
import type { Refund } from '../../domain/refund.ts';
import { dustUnits } from '../../rails/utxo/transaction-size.ts';
import { MASTER, signAll, withVersion } from '../../rails/utxo/wallet.fixture.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { payoutProgress } from '../../store/refunds/sent-payouts.ts';
import { cancelRefund } from './change-refund.ts';
import {
  COIN,
  CONFIRMATIONS,
  nodeForTests,
  refundShop,
  type RefundShop,
  type ShownPsbt,
} from './refund-psbt.fixture.ts';

const copyOf = ({ psbt }: ShownPsbt): Transaction =>
  Transaction.fromPSBT(Buffer.from(psbt, 'base64'), { allowUnknownOutputs: true });
const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString('base64');

/** Signed in full and not finalized, as hardware wallets give it back. */
function signedBase64(shown: ShownPsbt, change: (transaction: Transaction) => void = () => {}): string {
  const transaction = copyOf(shown);
  change(transaction);
  signAll(transaction);
  return base64(transaction.toPSBT());
}

/** The version bytes of private keys on test chains (BIP 32). */
const tprv = (key: string): string => withVersion(key, 0x04358394);

async function statusOf({ app }: RefundShop, { id }: Refund): Promise<string | undefined> {
  return (await findRefund(app.db, id))?.status;
}

describe.each(utxoNodeKindsFor(import.meta.url))('a signed refund that is pasted, on a real %s node', (kind) => {
  const node = nodeForTests({ kind });
  /** A refund of a quarter coin that was shown for signing. */
  const shownRefund = async () => {
    const shop = await refundShop(node());
    const refund = await shop.refund(await shop.paid(COIN), COIN / 4n);
    return { shop, refund, shown: await shop.psbtOf(refund) };
  };

  it('is sent in whatever form it comes, once, and pays its refund', async () => {
    const { shop, refund, shown } = await shownRefund();
    const text = signedBase64(shown);
    const final = shop.signed({ ...shown, transaction: copyOf(shown) });
    const sent = { kind: 'sent', transactionHash: final.id };
    expect(await shop.send([refund], `\n ${text}\n`)).toEqual(sent);
    expect(await node().rpc('getrawmempool')).toContain(final.id);
    const [progress] = await payoutProgress(shop.app.db, [refund.id]);
    expect(progress).toMatchObject({ hash: final.id, state: 'waiting', confirmations: 0, needed: CONFIRMATIONS });
    // Given again in every other form, it is the same, and nothing else may happen to the refund.
    const forms = [
      text,
      base64(final.toPSBT()),
      Buffer.from(final.toPSBT()).toString('hex'),
      final.hex,
      base64(final.extract()),
    ];
    for (const form of forms) expect(await shop.send([refund], form)).toEqual(sent);
    expect(await cancelRefund(shop.app, { id: refund.id })).toMatchObject({ kind: 'refused' });
    expect(await shop.show(refund)).toMatchObject({ psbt: null, problem: expect.stringContaining(final.id) });
    await shop.mine(1);
    expect(await payoutProgress(shop.app.db, [refund.id])).toMatchObject([{ state: 'block', confirmations: 1 }]);
    await shop.mine(CONFIRMATIONS - 1);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: final.id });
    expect(await shop.send([refund], text)).toEqual(sent);
  });

  it('is refused with what differs where it is not what was shown, and nothing is sent', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const foreign = await shop.paid(COIN / 2n);
    const refund = await shop.refund(payment, COIN / 4n);
    const shown = await shop.psbtOf(refund);
    const other = await node().newAddress();
    const script = shop.wallet.outputAt(0).script;
    const change = shown.changeUnits;
    const wrong: readonly (readonly [string, (transaction: Transaction) => void])[] = [
      ['Output 1 pays 0.26 ', (one) => one.updateOutput(0, { amount: COIN / 4n + COIN / 100n })],
      ['0.01 ', (one) => one.updateOutput(0, { amount: COIN / 4n - COIN / 100n })],
      ['No output pays 0.25 ', (one) => one.updateOutput(0, { script })],
      [
        'Output 3 pays 0.1 ',
        (one) => {
          one.updateOutput(1, { amount: change - COIN / 10n });
          one.addOutput({ script, amount: COIN / 10n });
        },
      ],
      [
        'a second time',
        (one) => {
          one.updateOutput(1, { amount: change / 2n });
          one.addOutput({ script: one.getOutput(1).script ?? script, amount: change / 2n - 1_000n });
        },
      ],
      [
        'number 5 of your change addresses',
        (one) => {
          one.updateOutput(1, { script: shop.wallet.changeAt(5)?.script ?? script });
        },
      ],
      ['MAX_FEE_RATE', (one) => one.updateOutput(1, { amount: change - COIN / 10n })],
      ['The outputs of the transaction are ', (one) => one.updateOutput(1, { amount: change + COIN })],
    ];
    for (const [says, alter] of wrong) {
      const outcome = await shop.send([refund], signedBase64(shown, alter));
      expect(outcome).toMatchObject({ kind: 'refused', message: expect.stringContaining('not the transaction') });
      expect(Object(outcome).differences.join(' ')).toContain(says);
    }
    // Final, it is refused for the same reason in each form.
    const excess = shop.signed({ ...shown, transaction: copyOf(shown) });
    excess.updateOutput(1, { amount: change + COIN }, true);
    for (const text of [base64(excess.toPSBT()), Buffer.from(excess.toBytes(true, true)).toString('hex')]) {
      expect(await shop.send([refund], text)).toMatchObject({
        kind: 'refused',
        differences: [expect.stringMatching(/^The outputs of the transaction are .* more than its inputs\.$/)],
      });
    }
    // Coins reserved for nobody, or for another refund, are not spent either.
    const second = await shop.refund(foreign, COIN / 10n, other);
    const theirs = await shop.psbtOf(second);
    expect(await shop.send([refund], signedBase64(theirs))).toMatchObject({
      differences: expect.arrayContaining([expect.stringMatching(/^Input 1 spends .* not among the inputs that/)]),
    });
    expect(await node().rpc('getrawmempool')).toEqual([]);
    expect(await shop.psbtOf(refund)).toMatchObject({ psbt: shown.psbt });
  });

  it('whose whole change went to the miners is refused with what to do, below MAX_FEE_RATE too', async () => {
    const { shop, refund, shown } = await shownRefund();
    const copy = copyOf(shown);
    const without = new Transaction({ allowUnknownOutputs: true });
    for (let at = 0; at < copy.inputsLength; at += 1) without.addInput(copy.getInput(at));
    without.addOutput(copy.getOutput(0));
    signAll(without);
    expect(await shop.send([refund], base64(without.toPSBT()), { maxFeeRate: 1_000_000 })).toMatchObject({
      kind: 'refused',
      differences: [
        expect.stringMatching(/^The transaction has no change output, so its fee is 0\.75 .* with its change output/),
      ],
    });
    expect(await node().rpc('getrawmempool')).toEqual([]);
    expect(await shop.send([refund], signedBase64(shown))).toMatchObject({ kind: 'sent' });
  });

  it('that lacks signatures, is cut off, is no transaction or is too long is refused with what to do', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN / 2n);
    const refund = await shop.refund(payment, COIN);
    const shown = await shop.psbtOf(refund);
    expect(shown.spends).toHaveLength(2);
    const half = copyOf(shown);
    const path = half.getInput(0).bip32Derivation?.[0]?.[1].path ?? [];
    const key = path.reduce((parent: typeof MASTER, step: number) => parent.deriveChild(step), MASTER);
    half.signIdx(key.privateKey ?? new Uint8Array(), 0);
    const refusals: readonly (readonly [string, object])[] = [
      [
        shown.psbt,
        {
          message: expect.stringContaining('not fully signed'),
          differences: [expect.stringMatching(/^Input 1 .* has no signature\.$/), expect.stringMatching(/^Input 2 /)],
        },
      ],
      [base64(half.toPSBT()), { differences: [expect.stringMatching(/^Input 2 .* has no signature\.$/)] }],
      [Buffer.from(copyOf(shown).unsignedTx).toString('hex'), { differences: [expect.anything(), expect.anything()] }],
      [shown.psbt.slice(0, 80), { message: expect.stringContaining('damaged or cut off') }],
      ['deadbeef', { message: expect.stringContaining('neither a PSBT nor a transaction') }],
      ['Hello!', { message: expect.stringContaining('neither base64 nor hex') }],
      ['', { message: expect.stringContaining('neither base64 nor hex') }],
      ['A'.repeat(5_000_000), { message: expect.stringContaining('longer than 2 million characters') }],
    ];
    for (const [text, refusal] of refusals)
      expect(await shop.send([refund], text)).toMatchObject({ kind: 'refused', ...refusal });
    expect(await statusOf(shop, refund)).toBe('pending');
  });

  it('of a refund that was cancelled, paid or taken back meanwhile is refused', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const [cancelled, paid] = [await shop.refund(payment, COIN / 4n), await shop.refund(payment, COIN / 5n)];
    const first = await shop.psbtOf(cancelled);
    await cancelRefund(shop.app, { id: cancelled.id, isForced: true });
    const now = await findRefund(shop.app.db, cancelled.id);
    expect(await shop.send([now ?? cancelled], signedBase64(first))).toMatchObject({
      message: expect.stringContaining('The refund was cancelled.'),
    });
    // A cancellation at the very moment of sending is seen under the refund's lock.
    expect(await shop.send([cancelled], signedBase64(first))).toMatchObject({ kind: 'refused' });
    const second = await shop.psbtOf(paid);
    const hash = await shop.pay(paid);
    await shop.follow();
    const bumped = signedBase64(second, (one) => one.updateOutput(1, { amount: second.changeUnits - 5_000n }));
    expect(await shop.send([paid], bumped)).toMatchObject({
      message: expect.stringContaining(`being paid by ${hash}`),
    });
  });

  it('that the node refuses says why in plain words, and is to be signed as before', async () => {
    const { shop, refund, shown } = await shownRefund();
    const bad = shop.signed({ ...shown, transaction: copyOf(shown) });
    const [signature = new Uint8Array(), publicKey = new Uint8Array()] = bad.getInput(0).finalScriptWitness ?? [];
    const forged = Uint8Array.from(signature);
    forged[20] = (forged[20] ?? 0) ^ 1;
    bad.updateInput(0, { finalScriptWitness: [forged, publicKey] }, true);
    expect(await shop.send([refund], base64(bad.toPSBT()))).toMatchObject({
      kind: 'refused',
      message: expect.stringMatching(/^The node refused the transaction: a signature is wrong\..*\(The node said: /),
    });
    expect(await payoutProgress(shop.app.db, [refund.id])).toMatchObject([{ state: 'refused', hash: bad.id }]);
    expect(await shop.psbtOf(refund)).toMatchObject({ psbt: shown.psbt });
    // The same transaction with good signatures has the same hash.
    expect(await shop.send([refund], signedBase64(shown))).toEqual({ kind: 'sent', transactionHash: bad.id });
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop, refund)).toBe('completed');
  });

  it('spends other coins when what was to pay it can no longer be mined, and not before', async () => {
    const { shop, refund, shown } = await shownRefund();
    await shop.paid(COIN / 2n);
    // The merchant's wallet spends the same coin for something else.
    const elsewhere = copyOf(shown);
    elsewhere.updateOutput(0, { script: shop.wallet.outputAt(50).script });
    await node().rpc('sendrawtransaction', [shop.signed({ ...shown, transaction: elsewhere }).hex]);
    const refused = await shop.send([refund], signedBase64(shown));
    expect(refused).toMatchObject({ kind: 'refused', message: expect.stringContaining('waiting to be mined spends') });
    await shop.mine(1);
    const anew = await shop.psbtOf(refund);
    expect(anew.spends.filter((spend) => shown.spends.includes(spend))).toEqual([]);
    const tip = await node().rpc('getbestblockhash');
    await node().rpc('invalidateblock', [tip]);
    const beside = { kind: 'refused', differences: [expect.stringMatching(/^The transaction spends none .* both/)] };
    expect(await shop.send([refund], signedBase64(anew))).toMatchObject(beside);
    await node().rpc('reconsiderblock', [tip]);
    expect(await shop.send([refund], signedBase64(anew))).toMatchObject({ kind: 'sent' });
    await shop.mine(CONFIRMATIONS);
    expect(await statusOf(shop, refund)).toBe('completed');
  });

  it('is sent once a node answers, also when the process ended before it was sent, or the node forgot it', async () => {
    const { shop, refund, shown } = await shownRefund();
    // A caller that fails at the moment of sending is what a crash or a silent node looks like.
    const outcome = await shop.send([refund], signedBase64(shown), { isSilent: true });
    expect(outcome).toMatchObject({ kind: 'kept', message: expect.stringContaining('as soon as a node answers') });
    // Given again, it is kept as before, until a node takes it.
    expect(await shop.send([refund], signedBase64(shown), { isSilent: true })).toEqual(outcome);
    expect(await node().rpc('getrawmempool')).toEqual([]);
    await shop.follow();
    expect(await node().rpc('getrawmempool')).toEqual([Object(outcome).transactionHash]);
    const sent = { kind: 'sent', transactionHash: Object(outcome).transactionHash };
    expect(await shop.send([refund], signedBase64(shown))).toEqual(sent);
    await shop.mine(CONFIRMATIONS);
    expect(await shop.send([refund], signedBase64(shown), { isSilent: true })).toEqual(sent);
    expect(await statusOf(shop, refund)).toBe('completed');
  });

  it('may pay several refunds: coins, change and fee are shared, and each completes by it', async () => {
    const shop = await refundShop(node());
    const dust = dustUnits(shop.network, shop.wallet.outputAt(0).script);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.bigInt({ min: 20_000n, max: COIN / 5n }), { minLength: 2, maxLength: 4 }),
        fc.integer({ min: 1, max: 200 }),
        async (sizes, feeRate) => {
          const payment = await shop.paid(COIN);
          const apart = await shop.refund(payment, 30_000n);
          const { spends: taken } = await shop.psbtOf(apart);
          const refunds: Refund[] = [];
          for (const units of sizes) refunds.push(await shop.refund(payment, units));
          const [first, ...rest] = refunds;
          if (first === undefined) throw new Error('no refund');
          const alone = await shop.psbtOf(first, { feeRate });
          const together = [first, ...rest] as const;
          const shown = await shop.showTogether(together, { feeRate });
          const { transaction } = shown;
          const outputs = Array.from(
            { length: transaction.outputsLength },
            (_, at) => transaction.getOutput(at).amount ?? 0n,
          );
          expect(outputs.slice(0, refunds.length)).toEqual(sizes);
          expect(outputs.length).toBe(refunds.length + (shown.changeUnits === 0n ? 0 : 1));
          expect(shown.changeUnits === 0n || shown.changeUnits >= dust).toBe(true);
          expect(new Set(shown.spends).size).toBe(shown.spends.length);
          // A transaction shown for one of them before must not be valid beside it; the other refund keeps its coins.
          expect(alone.spends.every((spend) => shown.spends.includes(spend))).toBe(true);
          const isShared = shown.spends.some((spend) => taken.includes(spend));
          expect(shown.warnings.some((warning) => warning.includes('no other inputs are left'))).toBe(isShared);
          // Each alone then spends the same, so that nobody is paid twice.
          expect((await shop.psbtOf(first, { feeRate })).spends.toSorted()).toEqual(shown.spends.toSorted());
          expect(await shop.showTogether(together, { feeRate })).toMatchObject({ psbt: shown.psbt });
          const sent = await shop.send(together, signedBase64(shown));
          expect(sent).toMatchObject({ kind: 'sent' });
          await shop.mine(CONFIRMATIONS);
          for (const { id } of refunds) {
            const { transactionHash } = Object(sent);
            expect(await findRefund(shop.app.db, id)).toMatchObject({ status: 'completed', transactionHash });
          }
          await cancelRefund(shop.app, { id: apart.id, isForced: true });
        },
      ),
      { numRuns: 3, endOnFailure: true },
    );
  });
});

describe.runIf(utxoNodeKinds().includes('bitcoin'))("a refund signed by the Bitcoin node's own wallet", () => {
  const node = nodeForTests({ kind: 'bitcoin' });

  /** The node's wallet holds the keys of the shop's. */
  const importKeys = async ({ descriptor }: RefundShop): Promise<void> => {
    const account = /\[73c5da0a(?<path>[^\]]+)\]/.exec(descriptor)?.groups?.['path'] ?? '';
    const secret = MASTER.derive(`m${account}`);
    for (const chain of [0, 1]) {
      const text = `wpkh([73c5da0a${account}]${tprv(secret.privateExtendedKey)}/${chain}/*)`;
      const { checksum } = Object(await node().rpc('getdescriptorinfo', [text]));
      const [imported] = Object(
        await node().rpc('importdescriptors', [[{ desc: `${text}#${checksum}`, timestamp: 'now' }]]),
      );
      expect(imported).toMatchObject({ success: true });
    }
  };

  it('with a signature that lets others change its outputs or inputs is refused in every form, and not sent', async () => {
    const shop = await refundShop(node());
    const refund = await shop.refund(await shop.paid(COIN), COIN / 4n);
    const shown = await shop.psbtOf(refund);
    await importKeys(shop);
    const sign = async (psbt: string, sighash: string, isFinal: boolean) =>
      Object(await node().rpc('walletprocesspsbt', [psbt, true, sighash, true, isFinal]));
    for (const sighash of ['NONE', 'SINGLE', 'ALL|ANYONECANPAY', 'NONE|ANYONECANPAY', 'SINGLE|ANYONECANPAY']) {
      const final = await sign(shown.psbt, sighash, true);
      const { psbt } = await sign(shown.psbt, sighash, false);
      expect(final).toMatchObject({ complete: true, hex: expect.any(String) });
      for (const text of [psbt, final.psbt, final.hex]) {
        const refusal = await shop.send([refund], text);
        expect(refusal).toMatchObject({ kind: 'refused', message: expect.stringContaining('Sign with SIGHASH_ALL.') });
        const fault = `) is signed with SIGHASH_${sighash}. Sign this input with SIGHASH_ALL.`;
        expect(Object(refusal).differences).toEqual([expect.stringMatching(/^Input 1 \([0-9a-f]{64}:\d+\) is signed/)]);
        expect(Object(refusal).differences[0]).toContain(fault);
      }
    }
    expect(await node().rpc('getrawmempool')).toEqual([]);
    expect(await payoutProgress(shop.app.db, [refund.id])).toMatchObject([{ hash: null }]);
    const { hex } = await sign(shown.psbt, 'ALL', true);
    expect(await shop.send([refund], hex)).toMatchObject({ kind: 'sent' });
  });

  it('is taken as walletprocesspsbt gives it back, two refunds in one', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refunds = [await shop.refund(payment, COIN / 4n), await shop.refund(payment, COIN / 5n)] as const;
    const shown = await shop.showTogether(refunds);
    await importKeys(shop);
    const processed = Object(await node().rpc('walletprocesspsbt', [shown.psbt]));
    expect(processed.complete).toBe(true);
    expect(await shop.send(refunds, processed.psbt)).toMatchObject({ kind: 'sent' });
    await shop.mine(CONFIRMATIONS);
    for (const refund of refunds) expect(await statusOf(shop, refund)).toBe('completed');
  });
});
