import type { FastifyInstance } from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { MODES, type Mode } from '../../src/domain/permission.ts';
import { ROLES, type Role } from '../../src/domain/role.ts';
import type { Guard } from '../../src/http/guard.ts';
import type { AnsweredRequest } from '../../src/http/server.ts';
import { CONTRACT } from '../../src/http/dashboard/contract.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { dashboardTest, type Member } from '../dashboard.ts';
import { WAIT } from '../deadline.ts';

/**
 * Who passes a route's guard. `anybody`: signed in or not; `everybody`: all who are signed in. Routes below a mode name
 * roles for each mode.
 */
type Cell = 'anybody' | 'everybody' | readonly Role[] | Readonly<Record<Mode, readonly Role[]>>;

const IN_BOTH = (roles: readonly Role[]) => ({ test: roles, live: roles }) as const;
/** All roles but the cashier's, who uses the till alone. */
const ALL = ['owner', 'admin', 'developer', 'support', 'viewer'] as const;
const TILL = IN_BOTH(['owner', 'admin', 'support', 'cashier']);
const ADMINS = ['owner', 'admin'] as const;
const DEVELOPERS = ['owner', 'admin', 'developer'] as const;
const CHANGES = { test: ['owner', 'admin', 'developer', 'support'], live: ['owner', 'admin', 'support'] } as const;
const IN_BOTH_MODES = IN_BOTH(ALL);
const ADMINS_IN_BOTH_MODES = IN_BOTH(ADMINS);
const REQUESTS = IN_BOTH(['owner', 'admin', 'support']);
const NOTES = IN_BOTH(['owner', 'admin', 'developer', 'support']);
const DEVELOPERS_IN_BOTH_MODES = IN_BOTH(DEVELOPERS);
const SCOPE = '/dashboard/api/projects/:project/:mode';
const PAYMENTS = '/dashboard/api/projects/:project/:mode/payments';
const SETTINGS = '/dashboard/api/projects/:project/settings';
const VIEWS = '/dashboard/api/projects/:project/views';

/** Every route of the dashboard's API, neither more nor fewer than are registered. */
const TABLE: Readonly<Record<string, Cell>> = {
  'GET /dashboard/api/session': 'anybody',
  'POST /dashboard/api/links/state': 'anybody',
  'POST /dashboard/api/links/accept': 'anybody',
  'POST /dashboard/api/links/confirm-email': 'anybody',
  'POST /dashboard/api/sign-in': 'anybody',
  'POST /dashboard/api/sign-in/code': 'anybody',
  'POST /dashboard/api/sign-in/recovery-code': 'anybody',
  'POST /dashboard/api/sign-in/passkey/options': 'anybody',
  'POST /dashboard/api/sign-in/passkey': 'anybody',
  'POST /dashboard/api/sign-out': 'anybody',
  'POST /dashboard/api/reauthenticate/passkey': 'everybody',
  'POST /dashboard/api/reauthenticate': 'everybody',
  'GET /dashboard/api/account/sessions': 'everybody',
  'POST /dashboard/api/account/sessions/end': 'everybody',
  'POST /dashboard/api/account/sessions/end-all': 'everybody',
  'POST /dashboard/api/account/password': 'everybody',
  'POST /dashboard/api/account/name': 'everybody',
  'POST /dashboard/api/account/email': 'everybody',
  'POST /dashboard/api/account/totp/start': 'everybody',
  'POST /dashboard/api/account/totp/confirm': 'everybody',
  'POST /dashboard/api/account/totp/remove': 'everybody',
  'GET /dashboard/api/account/passkeys': 'everybody',
  'POST /dashboard/api/account/passkeys/options': 'everybody',
  'POST /dashboard/api/account/passkeys/add': 'everybody',
  'POST /dashboard/api/account/passkeys/remove': 'everybody',
  'POST /dashboard/api/account/recovery-codes': 'everybody',
  'GET /dashboard/api/connect': 'everybody',
  'GET /dashboard/api/people': ADMINS,
  'POST /dashboard/api/people/factor-roles': ['owner'],
  'POST /dashboard/api/people/invite': ['owner'],
  'POST /dashboard/api/people/role': ['owner'],
  'POST /dashboard/api/people/reset': ['owner'],
  'POST /dashboard/api/people/remove-factors': ['owner'],
  'GET /dashboard/api/people/:person/sessions': ADMINS,
  'POST /dashboard/api/people/:person/sessions/end': ['owner'],
  'POST /dashboard/api/people/:person/sessions/end-all': ['owner'],
  'POST /dashboard/api/people/deactivate': ['owner'],
  'POST /dashboard/api/projects': ['owner'],
  'GET /dashboard/api/audit': ADMINS,
  'POST /dashboard/api/audit/export': ADMINS,
  'GET /dashboard/api/projects/:project/audit': ADMINS,
  'POST /dashboard/api/projects/:project/audit/export': ADMINS,
  'GET /dashboard/api/projects/:project/:mode/keys': DEVELOPERS_IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/keys': DEVELOPERS_IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/keys/:key/roll': DEVELOPERS_IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/keys/:key/revoke': DEVELOPERS_IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/connect': DEVELOPERS_IN_BOTH_MODES,
  'GET /dashboard/api/projects/:project/access': DEVELOPERS,
  'POST /dashboard/api/projects/:project/access/ips': ADMINS,
  'POST /dashboard/api/projects/:project/access/origins': ADMINS,
  'GET /dashboard/api/projects/:project/:mode/home': IN_BOTH_MODES,
  'GET /dashboard/api/projects/:project/:mode/attention': IN_BOTH_MODES,
  'GET /dashboard/api/projects/:project/:mode/attention/count': IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/attention/mark': NOTES,
  'POST /dashboard/api/projects/:project/:mode/attention/mark-many': NOTES,
  'GET /dashboard/api/projects/:project/:mode/reports': IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/reports/export': IN_BOTH_MODES,
  'POST /dashboard/api/projects/:project/:mode/reports/statement': IN_BOTH_MODES,
  [`GET ${PAYMENTS}`]: IN_BOTH_MODES,
  [`GET ${PAYMENTS}/count`]: IN_BOTH_MODES,
  [`GET ${PAYMENTS}/ids`]: IN_BOTH_MODES,
  [`GET ${PAYMENTS}/:payment`]: IN_BOTH_MODES,
  [`POST ${PAYMENTS}/:payment/complete`]: CHANGES,
  [`POST ${PAYMENTS}/:payment/cancel`]: CHANGES,
  [`POST ${PAYMENTS}/:payment/accept`]: CHANGES,
  [`POST ${PAYMENTS}/:payment/advance`]: CHANGES,
  [`POST ${PAYMENTS}/:payment/simulate`]: CHANGES,
  'GET /dashboard/api/projects/:project/:mode/tokens': CHANGES,
  [`POST ${PAYMENTS}`]: CHANGES,
  [`POST ${PAYMENTS}/:payment/refunds`]: REQUESTS,
  [`POST ${PAYMENTS}/:payment/refunds/:refund/cancel`]: REQUESTS,
  'GET /dashboard/api/projects/:project/labels': ALL,
  [`POST ${SCOPE}/labels`]: NOTES,
  [`POST ${PAYMENTS}/:payment/notes`]: NOTES,
  [`POST ${PAYMENTS}/:payment/notes/edit`]: NOTES,
  [`POST ${PAYMENTS}/:payment/notes/delete`]: NOTES,
  [`POST ${PAYMENTS}/:payment/labels`]: NOTES,
  [`POST ${PAYMENTS}/:payment/labels/remove`]: NOTES,
  'GET /dashboard/api/projects/:project/:mode/events': IN_BOTH_MODES,
  'GET /dashboard/api/projects/:project/:mode/search': IN_BOTH_MODES,
  [`POST ${PAYMENTS}/export`]: IN_BOTH_MODES,
  'GET /dashboard/api/filters': 'everybody',
  [`GET ${VIEWS}`]: ALL,
  [`POST ${VIEWS}`]: ALL,
  [`POST ${VIEWS}/:view`]: ALL,
  [`POST ${VIEWS}/:view/delete`]: ALL,
  [`GET ${SCOPE}/webhooks`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint/pause`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint/enable`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint/delete`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint/rotate`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/webhooks/:endpoint/test`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/deliveries`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/deliveries/:delivery`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/deliveries/:delivery/retry`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/delivery-retries`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/delivery-retries`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/delivery-retries/:retry`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/delivery-retries/:retry/stop`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/event-log`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/event-log/:event`]: DEVELOPERS_IN_BOTH_MODES,
  [`POST ${SCOPE}/event-log/:event/resend`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/requests`]: DEVELOPERS_IN_BOTH_MODES,
  [`GET ${SCOPE}/requests/:request`]: DEVELOPERS_IN_BOTH_MODES, // Refunds of a project.
  [`GET ${SCOPE}/refunds`]: IN_BOTH_MODES,
  [`GET ${SCOPE}/refunds/:refund`]: IN_BOTH_MODES,
  [`POST ${SCOPE}/refunds/export`]: IN_BOTH_MODES,
  [`GET ${SCOPE}/customers`]: IN_BOTH_MODES,
  [`POST ${SCOPE}/customers/find`]: IN_BOTH_MODES,
  [`POST ${SCOPE}/customers/export`]: IN_BOTH_MODES,
  [`GET ${SCOPE}/payment-requests`]: IN_BOTH_MODES,
  [`GET ${SCOPE}/payment-requests/:request`]: IN_BOTH_MODES,
  [`POST ${SCOPE}/payment-requests`]: CHANGES,
  [`POST ${SCOPE}/payment-requests/:request/close`]: CHANGES,
  [`POST ${SCOPE}/payment-requests/:request/mail`]: CHANGES,
  [`GET ${SCOPE}/payment-requests/:request/files/:file`]: IN_BOTH_MODES,
  [`GET ${SCOPE}/invoice-documents/defaults`]: CHANGES,
  [`POST ${SCOPE}/invoice-documents`]: CHANGES,
  [`GET ${PAYMENTS}/:payment/refunds/rate`]: REQUESTS,
  // Signing refunds.
  [`POST ${SCOPE}/signing`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/signing/send`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/signing/sent`]: ADMINS_IN_BOTH_MODES,
  [`GET ${SCOPE}/signing/progress`]: ADMINS_IN_BOTH_MODES,
  // Reports.
  // Wallets.
  'GET /dashboard/api/projects/:project/wallets': ADMINS,
  'POST /dashboard/api/projects/:project/wallets/:network': ADMINS,
  'POST /dashboard/api/projects/:project/wallets/:network/preview': ADMINS,
  'POST /dashboard/api/projects/:project/wallets/:network/terms': ADMINS,
  'POST /dashboard/api/projects/:project/wallets/:network/check': ADMINS,
  'POST /dashboard/api/projects/:project/payment-terms': ADMINS,
  // Sweeps.
  [`GET ${SCOPE}/sweeps`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/sweeps/check`]: ADMINS_IN_BOTH_MODES,
  [`GET ${SCOPE}/sweeps/history`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/sweeps`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/sweeps/:sweep/sent`]: ADMINS_IN_BOTH_MODES,
  [`POST ${SCOPE}/sweeps/:sweep/give-up`]: ADMINS_IN_BOTH_MODES,
  // Settings.
  [`GET ${SETTINGS}`]: ADMINS,
  [`POST ${SETTINGS}`]: ADMINS,
  [`POST ${SETTINGS}/preview`]: ADMINS,
  [`GET ${SETTINGS}/logo/:hash`]: ADMINS,
  [`GET ${SETTINGS}/customer-mails`]: ADMINS,
  [`POST ${SETTINGS}/customer-mails`]: ADMINS,
  [`GET ${SETTINGS}/datev`]: ADMINS,
  [`POST ${SETTINGS}/datev`]: ADMINS,
  [`GET ${SETTINGS}/invoices`]: ADMINS,
  [`POST ${SETTINGS}/invoices`]: ADMINS,
  [`GET ${SETTINGS}/till`]: ADMINS,
  [`POST ${SETTINGS}/till`]: ADMINS,
  [`GET ${SETTINGS}/stops`]: ADMINS,
  [`POST ${SETTINGS}/deactivate`]: ['owner'],
  [`POST ${SETTINGS}/activate`]: ['owner'],
  [`POST ${SETTINGS}/export`]: ADMINS,
  [`POST ${SETTINGS}/customer-data/count`]: ['owner'],
  [`POST ${SETTINGS}/customer-data/delete`]: ['owner'],
  // The till.
  [`GET ${SCOPE}/till`]: TILL,
  [`GET ${SCOPE}/till/sales`]: TILL,
  [`POST ${SCOPE}/till/sales`]: TILL,
  [`GET ${SCOPE}/till/sales/:payment`]: TILL,
  [`POST ${SCOPE}/till/sales/:payment/coin`]: TILL,
  [`POST ${SCOPE}/till/sales/:payment/cancel`]: TILL,
  [`GET ${SCOPE}/till/events`]: TILL,
  // Mail and notifications.
  'GET /dashboard/api/account/notifications': 'everybody',
  'POST /dashboard/api/account/notifications': 'everybody',
  'POST /dashboard/api/account/notifications/project': 'everybody',
  'POST /dashboard/api/unsubscribe/state': 'anybody',
  'POST /dashboard/api/unsubscribe': 'anybody',
};

/** A stream that passes its guard never ends, so a route with the same rule is called instead. */
const LIKE_STREAM: Readonly<Record<string, string>> = {
  [`GET ${SCOPE}/events`]: `GET ${PAYMENTS}`,
  [`GET ${SCOPE}/till/events`]: `GET ${SCOPE}/till`,
};

const test = await dashboardTest();
afterAll(() => test.http.close());
const { app } = test.http;

/** The registered routes, which are what a browser can reach. */
async function registered(): Promise<ReadonlyMap<string, Guard | undefined>> {
  const found = new Map<string, Guard | undefined>();
  const plugin = dashboardRoutes(test.dashboard, null);
  const server = test.http.build({
    side: 'live',
    dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false, seenSessions: new Set() },
    plugins: [
      (scope: FastifyInstance) => {
        scope.addHook('onRoute', ({ method, url, config }) => {
          // Pages, and what mail programs call, have no session.
          if (method !== 'HEAD' && config?.guard?.kind !== 'dashboard')
            found.set(`${String(method)} ${url}`, config?.guard);
        });
        plugin(scope);
      },
    ],
  });
  await server.ready();
  return found;
}

it('a request beyond a role is told to the log, with the person and the address', async () => {
  const answered: AnsweredRequest[] = [];
  const own = await dashboardTest({ onAnswered: (answer) => void answered.push(answer) });
  const { id, browser } = await own.join('viewer');
  expect((await browser.try('POST /dashboard/api/projects', { name: 'Tea' })).status).toBe(403);
  await browser.session();
  await expect
    .poll(() => answered.slice(-2).map(({ denied }) => denied), WAIT)
    .toEqual([{ person: id, client: '127.0.0.1', reason: expect.stringContaining('viewer') }, null]);
});

it('every route that is registered has its row, and every row its route', async () => {
  const routes = await registered();
  expect([...routes.keys()].toSorted()).toEqual(Object.keys(TABLE).toSorted());
  expect(Object.keys(CONTRACT).toSorted()).toEqual(Object.keys(TABLE).toSorted());
  for (const [stream, like] of Object.entries(LIKE_STREAM)) expect(routes.get(stream)).toEqual(routes.get(like));
});

describe('who gets past the guard', async () => {
  const other = await createProject(app, 'Other');
  if (other.kind !== 'done') throw new Error(other.code);
  const otherId = other.project.id;
  const everywhere = new Map<Role, Member>();
  const inProject = new Map<Role, Member>();
  for (const role of ROLES) {
    everywhere.set(role, await test.join(role));
    inProject.set(role, await test.join(role, app.projectId));
  }

  /** The status with which the guard refuses, or `reached`, whatever the route then answers. */
  const guarded = async (
    name: string,
    member: Member | null,
    projectId: string,
    mode = 'test',
  ): Promise<'reached' | 401 | 403 | 404> => {
    // These requests would end the session that later ones need.
    if (
      member !== null &&
      /sign-out|account\/sessions\/end-all|accept$|sign-in$/.test(name) &&
      !name.includes(':payment')
    )
      return 'reached';
    const [method = '', url = ''] = (LIKE_STREAM[name] ?? name).split(' ');
    const browser = member?.browser ?? test.browser();
    const path = url.replace(':project', projectId).replace(':mode', mode).replace(':payment', 'x');
    const { status, text } = await browser.call({ method, path, ...(method === 'POST' ? { body: '[' } : {}) });
    if (status === 401 || status === 403) return status;
    return status === 404 && /no such project|The mode must be/.test(text) ? 404 : 'reached';
  };
  const rolesOf = (cell: Cell, mode: Mode): readonly Role[] =>
    typeof cell === 'string' ? ROLES : 'test' in cell ? cell[mode] : cell;

  describe.each(Object.entries(TABLE))('%s', (name, cell) => {
    const isOfProject = name.includes(':project');
    const modes = name.includes(':mode') ? MODES : (['test'] as const);

    it('signed out', async () => {
      for (const mode of modes) {
        expect(await guarded(name, null, app.projectId, mode)).toBe(cell === 'anybody' ? 'reached' : 401);
      }
    });

    it.each(ROLES)('%s of all projects, in each of them', async (role) => {
      for (const mode of modes) {
        const expected = rolesOf(cell, mode).includes(role) ? 'reached' : 403;
        for (const projectId of isOfProject ? [app.projectId, otherId] : [app.projectId]) {
          expect(await guarded(name, everywhere.get(role) ?? null, projectId, mode)).toBe(expected);
        }
      }
    });

    it.each(ROLES)('%s of one project: there, and nowhere else', async (role) => {
      const member = inProject.get(role) ?? null;
      for (const mode of modes) {
        const may = typeof cell === 'string' || (isOfProject && rolesOf(cell, mode).includes(role));
        expect(await guarded(name, member, app.projectId, mode)).toBe(may ? 'reached' : 403);
      }
      for (const projectId of isOfProject ? [otherId] : []) expect(await guarded(name, member, projectId)).toBe(404);
    });

    it.runIf(isOfProject)('nobody where there is no such project or mode', async () => {
      const owner = inProject.get('owner') ?? null;
      for (const projectId of ['00000000-0000-7000-8000-000000000000', 'x', '%00', `${app.projectId}%20`]) {
        expect(await guarded(name, owner, projectId)).toBe(404);
      }
      for (const mode of modes.length > 1 ? ['paper', '%00'] : []) {
        expect(await guarded(name, owner, app.projectId, mode)).toBe(404);
      }
    });
  });
});

describe('a route below /dashboard/api that could not be guarded', () => {
  const register = async (url: string, guard: Guard | undefined): Promise<void> => {
    const plugin = (scope: FastifyInstance): void => {
      const config = guard === undefined ? {} : { config: { guard } };
      scope.route({ method: 'GET', url, ...config, handler: () => ({}) });
    };
    await test.http.build({ side: 'live', plugins: [plugin] }).ready();
  };
  it.each([
    ['/dashboard/api/forgotten', undefined],
    ['/dashboard/api/open', { kind: 'open' }],
    ['/dashboard/api/page', { kind: 'dashboard', isCounted: true }],
    ['/dashboard/api/payments', { kind: 'session', action: 'read_payments' }],
    ['/dashboard/api/:project/people', { kind: 'session', action: 'read_people' }],
    ['/dashboard/api/:project/cancel', { kind: 'session', action: 'change_payments' }],
  ] satisfies readonly (readonly [string, Guard | undefined])[])('does not register: %s', async (url, guard) => {
    await expect(register(url, guard)).rejects.toThrow(/guard of kind "session"|:project|:mode/);
  });
});
