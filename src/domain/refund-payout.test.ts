import { describe, expect, it } from 'vitest';
import {
  MAX_LATE_PAYOUT_MS,
  matchPayouts,
  type KnownPayout,
  type PayableRefund,
  type PayoutTransfer,
} from './refund-payout.ts';

const CREATED_AT = 1_000;

const refund = (id: string, facts: Partial<PayableRefund> = {}): PayableRefund => ({
  id,
  status: 'pending',
  asset: 'BTC',
  units: 5n,
  address: 'bc1q',
  createdAt: CREATED_AT,
  inputs: [],
  ...facts,
});

const transfer = (transactionHash: string, facts: Partial<PayoutTransfer> = {}): PayoutTransfer => ({
  transactionHash,
  asset: 'BTC',
  index: 0,
  address: 'bc1q',
  amount: 5n,
  blockAt: CREATED_AT + 1,
  ...facts,
});

const known = (refundId: string, transactionHash: string, facts: Partial<KnownPayout> = {}): KnownPayout => ({
  refundId,
  transactionHash,
  asset: 'BTC',
  index: 0,
  spends: [],
  state: 'block',
  isGuess: false,
  ...facts,
});

/** The matches of transfers and refunds, as `tx:0 > a`; a guess with a question mark. */
function paid(
  transfers: readonly PayoutTransfer[],
  refunds: readonly PayableRefund[],
  payouts: readonly KnownPayout[] = [],
  spends: Readonly<Record<string, readonly string[]>> = {},
): readonly string[] {
  return matchPayouts(transfers, refunds, payouts, new Map(Object.entries(spends)))
    .map(({ transfer: { transactionHash, index }, refundId, isGuess }) =>
      [`${transactionHash}:${index} >`, refundId + (isGuess ? '?' : '')].join(' '),
    )
    .toSorted();
}

describe('of refunds that are the same', () => {
  const same = [refund('a'), refund('b')];

  it('each keeps the output that was seen to pay it', () => {
    const both = [transfer('tx', { index: 0 }), transfer('tx', { index: 1 })];
    const seen = [known('a', 'tx', { index: 1 }), known('b', 'tx', { index: 0 })];
    expect(paid(both, same, seen)).toEqual(['tx:0 > b', 'tx:1 > a']);
  });

  it('each keeps its transaction, though the logs count from elsewhere in another block', () => {
    expect(paid([transfer('tx', { index: 3 })], same, [known('b', 'tx', { index: 7 })])).toEqual(['tx:3 > b']);
  });

  it('each is paid by one transfer of a transaction only: what else it pays is another one’s', () => {
    const both = [transfer('tx', { index: 0 }), transfer('tx', { index: 1 })];
    expect(paid(both, same, [known('a', 'tx', { state: 'waiting' })])).toEqual(['tx:0 > a', 'tx:1 > b']);
  });

  it('each keeps what replaces its transaction, known by what both spend', () => {
    const waiting = known('b', 'old', { state: 'waiting', spends: ['coin:1'] });
    expect(paid([transfer('new')], same, [waiting], { new: ['coin:1'] })).toEqual(['new:0 > b']);
  });

  it('none keeps what spends the same as a payout that is in a block: that is not replaced any more', () => {
    const mined = known('b', 'old', { spends: ['coin:1'] });
    expect(paid([transfer('new')], same, [mined], { new: ['coin:1'] })).toEqual(['new:0 > a']);
  });

  it('the one that was shown to spend the coin is paid, else the older one', () => {
    const shown = [refund('a'), refund('b', { inputs: ['coin:1'] })];
    expect(paid([transfer('tx')], shown, [], { tx: ['coin:0', 'coin:1'] })).toEqual(['tx:0 > b']);
    expect(paid([transfer('tx')], shown, [], { tx: ['coin:2'] })).toEqual(['tx:0 > a']);
    expect(paid([transfer('tx')], shown)).toEqual(['tx:0 > a']);
  });

  it('one that nothing pays yet comes before one whose payout waits, and what was dropped pays nothing', () => {
    expect(paid([transfer('tx')], same, [known('a', 'old', { state: 'waiting' })])).toEqual(['tx:0 > b']);
    expect(paid([transfer('tx')], same, [known('a', 'old', { state: 'dropped' })])).toEqual(['tx:0 > a']);
  });
});

it('a refund is paid whatever date its block has: the clock that dated the refund may be wrong', () => {
  const older = transfer('tx', { blockAt: 1 });
  const created = 10 * MAX_LATE_PAYOUT_MS;
  expect(paid([older], [refund('a', { createdAt: created })])).toEqual(['tx:0 > a']);
  expect(paid([older], [refund('a', { createdAt: created, status: 'failed' })])).toEqual(['tx:0 > a?']);
});

it('a refund whose payout is in no block yet may be paid by another one, which may be its replacement', () => {
  const both = [transfer('waiting', { blockAt: null }), transfer('mined')];
  expect(paid(both, [refund('a')])).toEqual(['mined:0 > a', 'waiting:0 > a']);
  expect(paid(both.toReversed(), [refund('a')])).toEqual(['mined:0 > a']);
});

it('what was seen to pay a refund in one asset says nothing of its transaction’s transfers in another', () => {
  const failed = refund('a', { status: 'failed' });
  const waiting = transfer('tx', { blockAt: null });
  expect(paid([waiting], [failed], [known('a', 'tx')])).toEqual(['tx:0 > a']);
  expect(paid([waiting], [failed], [known('a', 'tx', { asset: 'LTC' })])).toEqual([]);
});

describe('a refund that is paid', () => {
  const done = refund('a', { status: 'completed' });

  it('is paid once more by the next exact transfer of a block, as a guess', () => {
    expect(paid([transfer('other')], [done], [known('a', 'tx')])).toEqual(['other:0 > a?']);
    expect(paid([transfer('other', { blockAt: null })], [done], [known('a', 'tx')])).toEqual([]);
    const late = transfer('other', { blockAt: CREATED_AT + MAX_LATE_PAYOUT_MS + 1 });
    expect(paid([late], [done], [known('a', 'tx')])).toEqual([]);
  });

  it('is not paid once more by what pays a failed one of the same amount to the same address', () => {
    const failed = refund('b', { status: 'failed' });
    expect(paid([transfer('other')], [done, failed], [known('a', 'tx')])).toEqual(['other:0 > b?']);
  });
});

describe('a refund that had failed', () => {
  const failed = refund('a', { status: 'failed' });
  const at = (blockAt: number | null): readonly string[] => paid([transfer('tx', { blockAt })], [failed]);

  it('is guessed to be paid by what pays it exactly in a block, until two of its lifetimes after its creation', () => {
    expect(at(CREATED_AT + 1)).toEqual(['tx:0 > a?']);
    expect(at(CREATED_AT + MAX_LATE_PAYOUT_MS)).toEqual(['tx:0 > a?']);
    expect(at(CREATED_AT + MAX_LATE_PAYOUT_MS + 1)).toEqual([]);
    expect(at(null)).toEqual([]);
    expect(MAX_LATE_PAYOUT_MS).toBe(14 * 24 * 60 * 60_000);
  });

  it('is guessed once, and never where something pays it already', () => {
    expect(paid([transfer('tx'), transfer('other')], [failed])).toEqual(['tx:0 > a?']);
    expect(paid([transfer('other')], [failed], [known('a', 'tx')])).toEqual([]);
  });

  it('gets for certain what spends the coins that it was shown to spend', () => {
    const shown = { ...failed, inputs: ['coin:1'] };
    expect(paid([transfer('tx')], [shown], [], { tx: ['coin:1'] })).toEqual(['tx:0 > a']);
  });

  it('gets what spends its coins, though an equal one waits that was shown to spend others', () => {
    const refunds = [refund('a', { inputs: ['x:0'] }), refund('b', { status: 'failed', inputs: ['y:0'] })];
    expect(paid([transfer('tx')], refunds, [], { tx: ['y:0'] })).toEqual(['tx:0 > b']);
    expect(paid([transfer('tx')], refunds.toReversed(), [], { tx: ['y:0'] })).toEqual(['tx:0 > b']);
    const both = paid([transfer('tx'), transfer('tx', { index: 1 })], refunds, [], { tx: ['y:0'] });
    expect(both).toEqual(['tx:0 > b', 'tx:1 > a']);
  });

  it('gets nothing of an equal one that is open to any coins, though one that was shown others is older', () => {
    const shown = refund('a', { inputs: ['x:0'] });
    const failed = refund('c', { status: 'failed', inputs: ['y:0'] });
    expect(paid([transfer('tx')], [shown, refund('b'), failed], [], { tx: ['y:0'] })).toEqual(['tx:0 > b']);
  });

  it('gets its part of a transaction that was shown for it and an equal one together', () => {
    const refunds = [refund('a', { inputs: ['x:0'] }), refund('b', { status: 'failed', inputs: ['x:0'] })];
    const both = [transfer('tx'), transfer('tx', { index: 1 })];
    expect(paid(both, refunds, [], { tx: ['x:0'] })).toEqual(['tx:0 > a', 'tx:1 > b']);
  });

  it('leaves what spends its coins to an equal one that waits and was shown none: a wallet chose them', () => {
    const refunds = [refund('a'), refund('b', { status: 'failed', inputs: ['y:0'] })];
    expect(paid([transfer('tx')], refunds, [], { tx: ['y:0'] })).toEqual(['tx:0 > a']);
  });

  it('gets what spends its coins before an equal one that has a payout, or that another transfer pays', () => {
    const refunds = [refund('a'), refund('b', { status: 'failed', inputs: ['y:0'] })];
    const waiting = known('a', 'w', { state: 'waiting', spends: ['z:0'] });
    expect(paid([transfer('tx')], refunds, [waiting], { tx: ['y:0'] })).toEqual(['tx:0 > b']);
    const spends = { its: ['y:0'], other: ['z:0'] };
    expect(paid([transfer('its'), transfer('other')], refunds, [], spends)).toEqual(['its:0 > b', 'other:0 > a']);
  });

  it('comes after one that waits', () => {
    expect(paid([transfer('tx')], [failed, refund('b')])).toEqual(['tx:0 > b']);
  });

  it('stays a guess when it is seen again', () => {
    expect(paid([transfer('tx')], [failed], [known('a', 'tx', { isGuess: true })])).toEqual(['tx:0 > a?']);
  });
});

it('a completed refund waits again once its payout was taken back, and not where none is known', () => {
  const completed = refund('a', { status: 'completed' });
  expect(paid([transfer('new')], [completed], [known('a', 'old', { state: 'dropped' })])).toEqual(['new:0 > a']);
  expect(paid([transfer('new')], [completed])).toEqual([]);
  expect(paid([transfer('new')], [completed], [known('b', 'old', { state: 'dropped' })])).toEqual([]);
});
