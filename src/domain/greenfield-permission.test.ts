import { describe, expect, it } from 'vitest';
import { greenfieldPermissionsOf, readGreenfieldPermissions } from './greenfield-permission.ts';
import { SCOPES, type Scope } from './permission.ts';

const STORE = '018f3a4e-9d2c-7b11-8a5e-0c1d2e3f4a5b';
const VIEW = 'btcpay.store.canviewinvoices';
const CREATE = 'btcpay.store.cancreateinvoice';
const SETTINGS = 'btcpay.store.canviewstoresettings';
const CHANGE = 'btcpay.store.canmodifyinvoices';
const WEBHOOKS = 'btcpay.store.webhooks.canmodifywebhooks';
const REFUNDS = 'btcpay.store.cancreatenonapprovedpullpayments';
const MODIFY_SETTINGS = 'btcpay.store.canmodifystoresettings';
/** The four that WooCommerce and Magento cannot work without. */
const FOUR = [VIEW, CREATE, SETTINGS, CHANGE] as const;

const withScopes = (scopes: readonly Scope[]) => greenfieldPermissionsOf({ permission: null, scopes });
const withPermission = (permission: 'full' | 'read' | 'write') => greenfieldPermissionsOf({ permission, scopes: null });

describe('the permissions that plugins ask for', () => {
  it.each<[plugin: string, asked: readonly string[], scopes: readonly Scope[], shown: readonly string[]]>([
    [
      'WooCommerce',
      [...FOUR, WEBHOOKS, REFUNDS],
      ['payments:read', 'payments:create', 'payments:change', 'webhooks', 'refunds'],
      [...FOUR, WEBHOOKS, REFUNDS],
    ],
    ['WooCommerce without refunds and webhooks', FOUR, ['payments:read', 'payments:create', 'payments:change'], FOUR],
    [
      'Magento',
      [...FOUR, WEBHOOKS],
      ['payments:read', 'payments:create', 'payments:change', 'webhooks'],
      [...FOUR, WEBHOOKS],
    ],
    [
      'PrestaShop',
      [SETTINGS, MODIFY_SETTINGS, VIEW, CREATE, CHANGE, WEBHOOKS],
      ['webhooks', 'payments:read', 'payments:create', 'payments:change'],
      [...FOUR, WEBHOOKS],
    ],
  ])('%s gets a key that shows exactly what it compares', (_plugin, asked, scopes, shown) => {
    expect(readGreenfieldPermissions(asked)).toEqual({ kind: 'asked', permissions: asked, scopes, projectId: null });
    expect(new Set(withScopes(scopes))).toEqual(new Set(shown));
  });

  it('may name one store, in any case, and each counts once', () => {
    expect(readGreenfieldPermissions([`${VIEW}:${STORE}`, `${VIEW}:${STORE.toUpperCase()}`, VIEW])).toEqual({
      kind: 'asked',
      permissions: [VIEW],
      scopes: ['payments:read'],
      projectId: STORE,
    });
  });

  it.each([
    'unrestricted',
    'btcpay.server.canmodifyserversettings',
    'btcpay.store.canviewinvoice',
    'BTCPAY.STORE.CANVIEWINVOICES',
    `${VIEW}:`,
    `${VIEW}:no-store`,
    `${VIEW}:${STORE}:${STORE}`,
    `${VIEW}:028f3a4e-9d2c-7b11-8a5e-0c1d2e3f4a5b`,
    'toString',
    '__proto__',
    '',
  ])('are refused with the first that is not known: %j', (unknown) => {
    expect(readGreenfieldPermissions([`${CREATE}:${STORE}`, unknown, 'other'])).toEqual({
      kind: 'unknown',
      permission: unknown,
    });
  });

  it.each([[[]], [[SETTINGS]]])('make no key if none needs one: %j', (asked) => {
    expect(readGreenfieldPermissions(asked)).toEqual({ kind: 'nothing' });
  });
});

describe('the permissions that a key shows', () => {
  it('are all six with full access, and those that read with Read Only', () => {
    expect(new Set(withPermission('full'))).toEqual(new Set([...FOUR, WEBHOOKS, REFUNDS]));
    expect(withPermission('read')).toEqual([VIEW, SETTINGS]);
    expect(withPermission('write')).toEqual([CREATE, SETTINGS, CHANGE, WEBHOOKS, REFUNDS]);
  });

  it('never are those that change the shop, and always the one that every key has', () => {
    for (const scopes of [SCOPES, ['events']] as const) {
      expect(withScopes(scopes)).not.toContain(MODIFY_SETTINGS);
      expect(withScopes(scopes)).toContain(SETTINGS);
    }
  });
});
