import { expect, it } from 'vitest';
import { ATTENTION_KINDS } from '../../src/domain/attention.ts';
import { actionsOf, mayDo, ROLES, type Role } from '../../src/domain/role.ts';
import { actionNames } from '../../web/dashboard/pages/attention/action-name.ts';

const namesFor = (role: Role, mode: 'test' | 'live' = 'live') =>
  new Set(ATTENTION_KINDS.flatMap((kind) => actionNames({ kind, until: null }, mode, actionsOf(role, 'project'))));

it('what needs attention offers each role what it may do, and others to see the payment', () => {
  const readers = ROLES.filter((role) => mayDo(role, 'read_payments'));
  const offered = Object.fromEntries(readers.map((role) => [role, [...namesFor(role)].toSorted()]));
  expect(offered).toEqual({
    owner: ['accept_payment', 'refund', 'refund_excess', 'see_payment', 'see_refund'],
    admin: ['accept_payment', 'refund', 'refund_excess', 'see_payment', 'see_refund'],
    developer: ['see_payment'],
    support: ['accept_payment', 'refund', 'refund_excess', 'see_payment'],
    viewer: ['see_payment'],
  });
  // Developers accept test payments and refund none.
  expect(namesFor('developer', 'test')).toEqual(new Set(['accept_payment', 'see_payment']));
});

it('an underpaid payment is accepted or refunded only when its customer can no longer send the rest', () => {
  const actions = actionsOf('owner', 'project');
  const until = '2026-11-23T09:24:00.000Z';
  expect(actionNames({ kind: 'underpaid', until }, 'live', actions)).toEqual(['see_payment']);
  expect(actionNames({ kind: 'underpaid', until: null }, 'live', actions)).toEqual(['accept_payment', 'refund']);
});
