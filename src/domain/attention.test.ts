import { expect, it } from 'vitest';
import { actionOfAttention, ATTENTION_KINDS } from './attention.ts';

it('what needs attention is shown to those who may read what it is about', () => {
  const kinds = Object.groupBy(ATTENTION_KINDS, actionOfAttention);
  expect(kinds).toEqual({
    read_payments: [
      'reorged',
      'till_money_gone',
      'paid_late',
      'paid_after_cancel',
      'underpaid',
      'overpaid',
      'slow',
      'refund_paid_twice',
      'refund_paid_anyway',
      'refund_to_sign',
    ],
    read_developer: ['endpoint_disabled', 'endpoint_failing'],
    read_audit: ['key_beyond_role'],
    read_wallets: ['wallet_changed', 'node_behind', 'no_wallet', 'sweep'],
  });
});
