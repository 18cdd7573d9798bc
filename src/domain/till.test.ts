import { describe, expect, it } from 'vitest';
import { CREATED_AT, OWED_UNITS, paymentWith } from './payment.fixture.ts';
import { tillOutcome } from './till.ts';

const counting = paymentWith({ status: 'processing' });

describe('what counts as paid at the till', () => {
  it.each([
    ['seen money below the limit', counting, [], true, { paidBy: 'seen', doubt: null }],
    ['mined money below the limit', paymentWith({ status: 'confirming' }), [], true, { paidBy: 'seen', doubt: null }],
    ['seen money from the limit on', counting, [], false, { paidBy: null, doubt: null }],
    ['a doubtful transaction', counting, ['replaceable'], true, { paidBy: null, doubt: 'replaceable' }],
    ['money that is not all there', paymentWith(), ['low_fee'], true, { paidBy: null, doubt: null }],
    ['confirmed money', paymentWith({ status: 'completed' }), [], false, { paidBy: 'confirmed', doubt: null }],
    [
      'confirmed money after a doubt',
      paymentWith({ status: 'completed' }),
      ['replaced'],
      true,
      { paidBy: 'confirmed', doubt: null },
    ],
    [
      'money that a reorganisation removed',
      paymentWith({ status: 'completed', completedAt: CREATED_AT, completedOnUnits: OWED_UNITS }),
      [],
      true,
      { paidBy: null, doubt: 'reorged' },
    ],
    ['money that disappeared', paymentWith(), ['low_fee', 'replaced'], true, { paidBy: null, doubt: 'replaced' }],
    ['money after the end', paymentWith({ status: 'expired' }), [], true, { paidBy: null, doubt: null }],
  ] as const)('%s', (_what, payment, doubts, isBelow, outcome) => {
    expect(tillOutcome(payment, doubts, isBelow)).toEqual(outcome);
  });
});
