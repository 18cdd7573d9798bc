import { expect, it } from 'vitest';
import { ATTENTION_KINDS } from './attention.ts';
import { isInAttentionMails, zoneOf } from './notification.ts';

it('mails are made in the zone of the person, else in UTC', () => {
  expect(zoneOf({ zone: 'Europe/Berlin' })).toBe('Europe/Berlin');
  expect(zoneOf({ zone: null })).toBe('UTC');
});

it('mails about what needs attention leave out kinds with mails of their own', () => {
  expect(ATTENTION_KINDS.filter((kind) => !isInAttentionMails(kind))).toEqual([
    'endpoint_disabled',
    'endpoint_failing',
    'wallet_changed',
  ]);
});
