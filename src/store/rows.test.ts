import { expect, it } from 'vitest';
import { fields, toChanges, toRow } from './rows.ts';

const LINK = { tokenHash: Buffer.from('hash'), purpose: 'reset', personId: null, createdAt: 0, expiresAt: 1 } as const;

it('an object is written as a row: times as dates, null as null, each under the name of its column', () => {
  expect(toRow('account_links', { ...LINK, usedAt: null })).toEqual({
    token_hash: LINK.tokenHash,
    purpose: 'reset',
    person_id: null,
    created_at: new Date(0),
    expires_at: new Date(1),
    used_at: null,
  });
});

it('a field that is forgotten does not compile, unless its column is left out by name', () => {
  // @ts-expect-error `usedAt` is missing.
  toRow('account_links', LINK);
  expect(toRow('account_links', LINK, { without: ['used_at'] })).not.toHaveProperty('used_at');
});

it('only the fields that are given change, under the names that their columns say', () => {
  expect(toChanges('sweeps', { height: 7, minedAt: null })).toEqual({
    block_height: 7,
    mined_at: null,
  });
});

it('columns are selected under the names of their fields', () => {
  expect(fields('sign_ins', { of: 's', without: ['token_hash', 'created_at'] })).toEqual([
    's.person_id as personId',
    's.challenge as challenge',
  ]);
});
