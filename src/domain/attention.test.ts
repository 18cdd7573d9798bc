import { expect, it } from 'vitest';
import { actionOfAttention, ATTENTION_KINDS, slowAfterMs } from './attention.ts';

const MINUTE_MS = 60_000;

it('what needs attention is shown to those who may read what it is about', () => {
  const kinds = Object.groupBy(ATTENTION_KINDS, actionOfAttention);
  expect(kinds).toEqual({
    read_payments: ['reorged', 'paid_late', 'paid_after_cancel', 'underpaid', 'overpaid', 'slow', 'refund_to_sign'],
    read_developer: ['endpoint_disabled', 'endpoint_failing'],
    read_audit: ['key_beyond_role'],
    read_wallets: ['wallet_changed', 'node_behind', 'no_wallet', 'sweep'],
  });
});

it('confirming is slow after three times what its blocks take on average, and never within an hour', () => {
  expect(slowAfterMs(10 * MINUTE_MS, 2)).toBe(90 * MINUTE_MS);
  expect(slowAfterMs(10 * MINUTE_MS, 1)).toBe(60 * MINUTE_MS);
  expect(slowAfterMs(12_000, 12)).toBe(60 * MINUTE_MS);
});
