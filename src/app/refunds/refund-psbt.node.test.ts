import { describe, expect, it } from 'vitest';
import { Transaction } from '@scure/btc-signer';
import * as fc from 'fast-check';
import { payerOf } from '../../../test/e2e/live-utxo-nodes.fixture.ts';
import { utxoNodeKindsFor } from '../../../test/litecoind.ts';
import type { Refund } from '../../domain/refund.ts';
import { readCursor, saveNodes } from '../../store/chains/chain.ts';
import { findRefund } from '../../store/refunds/refunds.ts';
import { cancelRefund } from './change-refund.ts';
import {
  COIN,
  CONFIRMATIONS,
  refundShop,
  nodeForTests,
  type RefundShop,
  type ShownPsbt,
} from './refund-psbt.fixture.ts';

/** Checks that the refund's PSBT pays what the refund shows. */
async function expectPaid(shop: RefundShop, refund: Refund): Promise<void> {
  await shop.pay(refund);
  await shop.mine(CONFIRMATIONS);
  expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed' });
}

describe.each(utxoNodeKindsFor(import.meta.url))('what a refund spends, on a real %s node', (kind) => {
  const node = nodeForTests({ kind });

  it('is the same each time the refund is shown, and no other refund of the wallet gets it', async () => {
    const shop = await refundShop(node());
    const [first, second] = [await shop.paid(COIN), await shop.paid(COIN)];
    const [one, other] = [await shop.refund(first, COIN / 2n), await shop.refund(first, COIN / 4n)];
    const shown = await shop.psbtOf(one);
    const shownOther = await shop.psbtOf(other);
    expect(shown.spends).toHaveLength(1);
    expect(shownOther.spends).toHaveLength(1);
    expect(shownOther.spends).not.toEqual(shown.spends);
    expect(shownOther.changeAddress).not.toBe(shown.changeAddress);
    expect([...shown.warnings, ...shownOther.warnings]).toEqual([]);
    for (let again = 0; again < 3; again += 1) {
      expect(await shop.psbtOf(one)).toMatchObject({ spends: shown.spends, changeAddress: shown.changeAddress });
      expect(await shop.psbtOf(other)).toMatchObject({
        spends: shownOther.spends,
        changeAddress: shownOther.changeAddress,
      });
    }
    await Promise.all([shop.pay(one), shop.pay(other)]);
    await shop.mine(CONFIRMATIONS);
    expect(await findRefund(shop.app.db, one.id)).toMatchObject({ status: 'completed' });
    expect(await findRefund(shop.app.db, other.id)).toMatchObject({ status: 'completed' });
    expect(second.status).toBe('completed');
  });

  it('stays, and more is added, when the fee has risen: what was signed before must not be valid beside it', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refund = await shop.refund(payment, COIN - 20_000n);
    const [spent = ''] = (await shop.psbtOf(refund)).spends;
    // Each would be the better choice for one who starts anew.
    await shop.paid(COIN + 50_000n);
    await shop.paid(5n * COIN);
    const shown = await shop.psbtOf(refund, { feeRate: 500 });
    expect(shown.spends).toContain(spent);
    expect(shown.spends.length).toBeGreaterThan(1);
    await expectPaid(shop, refund);
  });

  it('stays the same when a better coin comes free', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN);
    const [first, refund] = [await shop.refund(payment, 10_000n), await shop.refund(payment, COIN / 2n)];
    await shop.psbtOf(first);
    const { spends } = await shop.psbtOf(refund);
    await cancelRefund(shop.app, { id: first.id, isForced: true });
    const again = await shop.psbtOf(refund, { feeRate: 900 });
    expect(again.spends).toEqual(spends);
  });

  it('is not given to two refunds that are shown at the same moment', async () => {
    const shop = await refundShop(node());
    const payments = [];
    for (let count = 0; count < 4; count += 1) payments.push(await shop.paid(COIN));
    const [payment] = payments;
    if (payment === undefined) throw new Error('no payment');
    const refunds = await Promise.all(payments.map(() => shop.refund(payment, COIN / 5n)));
    const shown = await Promise.all(refunds.map((refund) => shop.psbtOf(refund)));
    expect(new Set(shown.flatMap(({ spends }) => spends)).size).toBe(4);
    expect(new Set(shown.map(({ changeAddress }) => changeAddress)).size).toBe(4);
  });

  it('never lets two transactions pay one refund, nor two refunds spend one coin unsaid, whatever the merchant does', async () => {
    const shop = await refundShop(node());
    const payments = [await shop.paid(COIN), await shop.paid(COIN), await shop.paid(3n * COIN)];
    const refunds: Refund[] = [];
    for (const payment of payments) {
      for (let count = 0; count < 2; count += 1) refunds.push(await shop.refund(payment, COIN / 5n));
    }
    /** All PSBTs that were ever shown: the merchant may have signed any of them. */
    const shown = new Map<string, ShownPsbt[]>();
    const sent = new Set<string>();
    // The node refuses what spends a coin twice.
    const send = async (id: string, psbt: ShownPsbt): Promise<void> => {
      const copy = Transaction.fromPSBT(Buffer.from(psbt.psbt, 'base64'));
      const answer = await node().answer('sendrawtransaction', [shop.signed({ ...psbt, transaction: copy }).hex]);
      if (typeof answer.result === 'string') sent.add(id);
    };
    const act = async (what: number, which: number): Promise<void> => {
      const refund = refunds[which % refunds.length];
      if (refund === undefined) return;
      const psbts = shown.get(refund.id) ?? [];
      if (what === 0) await shop.mine(1);
      if (what <= 2) {
        const { psbt } = await shop.show(refund);
        if (psbt?.kind === 'ok') shown.set(refund.id, [...psbts, await shop.psbtOf(refund)]);
      }
      const old = psbts[what % Math.max(1, psbts.length)];
      if (what < 3 || old === undefined) return;
      await send(refund.id, old);
    };
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat({ max: 4 }), fc.nat({ max: 5 })), { minLength: 15, maxLength: 25 }),
        async (steps) => {
          for (const [what, which] of steps) await act(what, which);
          for (const [id, psbts] of shown) {
            for (const { spends, warnings } of psbts) {
              const others = [...shown].filter(([other]) => other !== id && !sent.has(other) && !sent.has(id));
              const latest = others.flatMap(([, list]) => list.at(-1)?.spends ?? []);
              const isShared = spends.some((spend) => latest.includes(spend)) && psbts.at(-1)?.spends === spends;
              // The first of the two was shown before it was shared.
              const withoutEmpty = [...warnings, ...others.flatMap(([, list]) => list.at(-1)?.warnings ?? [])];
              if (isShared && !withoutEmpty.some((warning) => warning.includes('no other inputs'))) return false;
            }
          }
          return true;
        },
      ),
      { numRuns: 3, endOnFailure: true },
    );
    // Whatever was signed is sent in the end.
    for (const [id, psbts] of shown) for (const psbt of psbts) await send(id, psbt);
    await shop.mine(CONFIRMATIONS);
    for (const { address } of refunds) {
      const { unspents } = Object(await node().rpc('scantxoutset', ['start', [`addr(${address})`]]));
      expect(Array.isArray(unspents) ? unspents.length : 0).toBeLessThanOrEqual(1);
    }
    expect(sent.size).toBeGreaterThan(0);
  });

  it('is what another refund was shown with only where nothing else is left, and that is said', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const [one, other] = [await shop.refund(payment, COIN / 4n), await shop.refund(payment, COIN / 4n)];
    const shown = await shop.psbtOf(one);
    const shared = await shop.psbtOf(other);
    expect(shared.spends).toEqual(shown.spends);
    expect(shared.warnings).toEqual([expect.stringMatching(/^This transaction spends inputs .* shown for re_\w+/)]);
    // The change of the first is money that the second can spend.
    const hash = await shop.pay(one);
    await shop.mine(CONFIRMATIONS);
    const again = await shop.psbtOf(other);
    expect(again.spends).toEqual([`${hash}:1`]);
    expect(again.warnings).toEqual([]);
  });

  it('is free again once its refund has ended', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const [one, other] = [await shop.refund(payment, COIN / 4n), await shop.refund(payment, COIN / 4n)];
    await shop.psbtOf(one);
    shop.app.clock.set((one.dueAt ?? 0) + 1);
    expect((await shop.psbtOf(other)).warnings).toEqual([]);
  });

  it('is not asked for a second time while what was sent waits, or is in a block: the customer would be paid twice', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN);
    const refund = await shop.refund(payment, COIN / 4n);
    const shown = await shop.psbtOf(refund);
    const nothing = { paymentUri: null, call: null, psbt: null };
    const first = await shop.pay(refund);
    // The node has it, and the service has not looked at what waits there.
    expect(await shop.show(refund)).toMatchObject({
      ...nothing,
      problem: expect.stringContaining('A transaction that is waiting to be mined spends inputs'),
    });
    // The merchant raises its fee, which makes another transaction of it.
    const bumped = shop.signed(changed(shown, 1, { amount: shown.changeUnits - 100_000n }));
    const hash = String(await node().rpc('sendrawtransaction', [bumped.hex]));
    expect(hash).not.toBe(first);
    expect(await shop.show(refund)).toMatchObject({ ...nothing, problem: expect.stringMatching(/raise its fee/i) });
    // The node has the block, and the service has not.
    await node().mine(1);
    expect(await shop.show(refund)).toMatchObject({ ...nothing, problem: expect.stringContaining('not been read') });
    await shop.follow();
    expect(await shop.show(refund)).toMatchObject({ ...nothing, problem: expect.stringContaining(`paid by ${hash}`) });
    await shop.mine(CONFIRMATIONS - 1);
    expect(await findRefund(shop.app.db, refund.id)).toMatchObject({ status: 'completed', transactionHash: hash });
    expect(await shop.show(refund)).toMatchObject({ ...nothing, problem: null });
  });

  it('is shown with a warning while another node knows a block that was not read', async () => {
    const shop = await refundShop(node());
    const refund = await shop.refund(await shop.paid(COIN), COIN / 2n);
    const warnings = async () => (await shop.show(refund)).warnings;
    expect(await warnings()).toEqual([]);
    const { db, clock } = shop.app;
    const height = ((await readCursor(db, refund.network))?.height ?? 0) + 1;
    await saveNodes(db, refund.network, [{ node: 'https://node.example', height, problem: null }], clock());
    expect(await warnings()).toEqual([expect.stringContaining('blocks have not been read yet')]);
    await shop.mine(1);
    expect(await warnings()).toEqual([]);
  });

  it('is something else, with a warning, when the merchant spent it elsewhere meanwhile', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    await shop.paid(COIN / 2n);
    const refund = await shop.refund(payment, COIN / 4n);
    const shown = await shop.psbtOf(refund);
    const elsewhere = shop.signed(
      changed(shown, 0, { script: shown.transaction.getOutput(1).script ?? new Uint8Array() }),
    );
    await node().rpc('sendrawtransaction', [elsewhere.hex]);
    await shop.mine(1);
    const again = await shop.psbtOf(refund);
    expect(again.spends).not.toEqual(shown.spends);
    expect(again.warnings).toEqual([expect.stringContaining('cancel the refund and do not sign this transaction')]);
    await expectPaid(shop, refund);
  });

  it('is waited for while its block is taken back', async () => {
    const shop = await refundShop(node());
    const payment = await shop.paid(COIN);
    const refund = await shop.refund(payment, COIN / 4n);
    const shown = await shop.psbtOf(refund);
    await payerOf(node()).reorganise(CONFIRMATIONS);
    await shop.follow();
    expect(await shop.show(refund)).toMatchObject({
      psbt: null,
      problem: expect.stringContaining('no longer confirmed on the chain'),
    });
    await shop.mine(CONFIRMATIONS);
    expect(await shop.psbtOf(refund)).toMatchObject({ spends: shown.spends, changeAddress: shown.changeAddress });
  });

  it('is the older, larger coin where newer ones do not suffice, and no coin that costs more than it is worth', async () => {
    const shop = await refundShop(node());
    await shop.paid(10n * COIN);
    const payment = await shop.paid(COIN);
    const small = await Promise.all(Array.from({ length: 60 }, () => shop.order()));
    const dust = { bitcoin: 600n, litecoin: 6_000n }[kind];
    await payerOf(node()).pay(small.map(({ address }) => [address, dust] as const));
    await shop.mine(CONFIRMATIONS);
    // The whole payment goes back: its fee has to come from another coin.
    const refund = await shop.refund(payment, COIN);
    const shown = await shop.psbtOf(refund, { feeRate: 100 });
    expect(shown.spends).toHaveLength(2);
    expect(shown.changeUnits).toBeGreaterThan(9n * COIN);
    await expectPaid(shop, refund);
  });
});

/** The shown transaction with another output, as a merchant's wallet could change it. */
function changed(shown: ShownPsbt, place: number, output: Parameters<Transaction['updateOutput']>[1]): ShownPsbt {
  const transaction = Transaction.fromPSBT(Buffer.from(shown.psbt, 'base64'));
  transaction.updateOutput(place, output);
  return { ...shown, transaction };
}
