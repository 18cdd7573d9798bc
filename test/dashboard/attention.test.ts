import { expect, it } from 'vitest';
import { ATTENTION_KINDS } from '../../src/domain/attention.ts';
import { actionsOf, ROLES, type Role } from '../../src/domain/role.ts';
import { actionName } from '../../web/dashboard/pages/attention/action-name.ts';

const namesFor = (role: Role, mode: 'test' | 'live' = 'live') =>
  new Set(ATTENTION_KINDS.flatMap((kind) => actionName(kind, mode, actionsOf(role, 'project')) ?? []));

it('what needs attention offers each role what it may do, and others to see the payment', () => {
  const offered = Object.fromEntries(ROLES.map((role) => [role, [...namesFor(role)].toSorted()]));
  expect(offered).toEqual({
    owner: ['accept_or_refund', 'refund_excess', 'see_payment', 'see_refund'],
    admin: ['accept_or_refund', 'refund_excess', 'see_payment', 'see_refund'],
    developer: ['see_payment'],
    support: ['accept_or_refund', 'refund_excess', 'see_payment'],
    viewer: ['see_payment'],
  });
  // Developers accept test payments and refund none: the button names both.
  expect(namesFor('developer', 'test')).toEqual(new Set(['see_payment']));
});
