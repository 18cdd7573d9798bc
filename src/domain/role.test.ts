import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  ACTIONS,
  actionsOf,
  beyondRole,
  CHANGE_PAYMENTS,
  isDangerous,
  isProjectAction,
  mayDo,
  projectsWithout,
  REAUTHENTICATION_MS,
  roleIn,
  ROLES,
  type Action,
  type Membership,
} from './role.ts';

/**
 * The table once more, as one reads it: o(wner), a(dmin), d(eveloper), s(upport), v(iewer), c(ashier); p(roject) or
 * all; ! asks for reauthentication.
 */
const TABLE: Readonly<Record<Action, string>> = {
  read_payments: 'oadsv- p',
  change_test_payments: 'oads-- p',
  change_live_payments: 'oa-s-- p',
  use_till: 'oa-s-c p',
  share_views: 'oads-- p',
  write_notes: 'oads-- p',
  delete_notes: 'oa---- p',
  request_refunds: 'oa-s-- p',
  create_refunds: 'oa---- p',
  read_developer: 'oad--- p',
  manage_test_keys: 'oad--- p',
  manage_live_keys: 'oad--- p !',
  manage_webhooks: 'oad--- p',
  read_wallets: 'oa---- p',
  send_sweeps: 'oa---- p',
  manage_wallets: 'oa---- p !',
  manage_settings: 'oa---- p',
  deactivate_project: 'o----- p !',
  export_project: 'oa---- p !',
  delete_customer_data: 'o----- p !',
  read_audit: 'oa---- p',
  read_service_audit: 'oa---- all',
  read_people: 'oa---- all',
  manage_people: 'o----- all !',
  create_projects: 'o----- all',
};

const CELLS = ACTIONS.flatMap((action) => ROLES.map((role) => [action, role] as const));

describe('the table', () => {
  it.each(CELLS)('%s by %s is as one reads it', (action, role) => {
    const [letters = '', place] = TABLE[action].split(' ');
    const expected = letters.includes(role.charAt(0));
    expect(mayDo(role, action)).toBe(expected);
    expect(actionsOf(role, place === 'p' ? 'project' : 'service').includes(action)).toBe(expected);
    expect(actionsOf(role, place === 'p' ? 'service' : 'project')).not.toContain(action);
  });

  it.each(ACTIONS)('%s is asked for where it says, with reauthentication or without', (action) => {
    const [, place, mark] = TABLE[action].split(' ');
    expect(isProjectAction(action)).toBe(place === 'p');
    expect(isDangerous(action)).toBe(mark === '!');
  });
});

it('nobody without a role may do anything', () => {
  expect([actionsOf(null, 'project'), actionsOf(null, 'service')]).toEqual([[], []]);
});

it('reauthentication holds for ten minutes', () => expect(REAUTHENTICATION_MS).toBe(600_000));

it('changing a payment takes the action of its mode', () => {
  expect(CHANGE_PAYMENTS).toEqual({ test: 'change_test_payments', live: 'change_live_payments' });
});

describe('a key that somebody makes', () => {
  const key = (more: Partial<Parameters<typeof beyondRole>[1]>) =>
    ({ mode: 'live', kind: 'secret', permission: null, scopes: null, ...more }) as const;

  it.each([
    ['full', 'change_live_payments'],
    ['write', 'change_live_payments'],
    ['read', null],
  ] as const)('of live mode with the permission %s goes beyond a developer by %s', (permission, action) => {
    expect(beyondRole('developer', key({ permission }))).toBe(action);
    expect(beyondRole('developer', key({ mode: 'test', permission }))).toBeNull();
    expect(beyondRole('admin', key({ permission }))).toBeNull();
  });

  it.each([
    ['payments:create', 'change_live_payments'],
    ['payments:read', null],
    ['payments:change', 'change_live_payments'],
    ['refunds', 'create_refunds'],
    ['webhooks', null],
    ['events', null],
  ] as const)('of live mode with the scope %s goes beyond a developer by %s', (scope, action) => {
    expect(beyondRole('developer', key({ scopes: [scope] }))).toBe(action);
    expect(beyondRole('owner', key({ scopes: [scope] }))).toBeNull();
  });

  it('goes beyond a role that is gone', () => {
    expect(beyondRole(null, key({ permission: 'read' }))).toBe('read_payments');
  });
});

describe('the role in a project', () => {
  const ids = ['p1', 'p2', 'p3'] as const;
  const memberships = fc
    .uniqueArray(fc.record({ projectId: fc.constantFrom(null, ...ids), role: fc.constantFrom(...ROLES) }), {
      selector: ({ projectId }) => projectId,
    })
    .map((list): readonly Membership[] => list);

  it('is the one given for it alone, else the one in all projects, in whichever order they are listed', () => {
    fc.assert(
      fc.property(memberships, fc.constantFrom(...ids), (list, projectId) => {
        const own = list.find((one) => one.projectId === projectId)?.role;
        const everywhere = list.find((one) => one.projectId === null)?.role ?? null;
        expect(roleIn(list, projectId)).toBe(own ?? everywhere);
        expect(roleIn(list.toReversed(), projectId)).toBe(own ?? everywhere);
        expect(roleIn(list, null)).toBe(everywhere);
      }),
    );
  });

  it('without the permission is listed for its project, so that lists over all projects can leave it out', () => {
    fc.assert(
      fc.property(memberships, fc.constantFrom(...ACTIONS.filter(isProjectAction)), (list, action) => {
        const named = list.flatMap(({ projectId }) => projectId ?? []);
        expect(projectsWithout(list, action)).toEqual(named.filter((id) => !mayDo(roleIn(list, id), action)));
      }),
    );
  });

  it('is none where no role is given', () => {
    expect(roleIn([], 'p1')).toBeNull();
    expect(roleIn([{ projectId: 'p2', role: 'owner' }], 'p1')).toBeNull();
    expect(roleIn([{ projectId: 'p2', role: 'owner' }], null)).toBeNull();
  });
});
