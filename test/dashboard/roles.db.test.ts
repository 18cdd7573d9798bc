import type { FastifyInstance } from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { createProject } from '../../src/app/projects/projects.ts';
import { MODES, type Mode } from '../../src/domain/permission.ts';
import { ROLES, type Role } from '../../src/domain/role.ts';
import type { Guard } from '../../src/http/guard.ts';
import { CONTRACT } from '../../src/http/dashboard/contract/index.ts';
import { dashboardRoutes } from '../../src/http/dashboard/routes.ts';
import { dashboardTest, type Member } from '../dashboard.ts';

/** Who gets past the guard of a route. `anybody`: signed in or not; `everybody`: whoever is signed in. */
type Cell = 'anybody' | 'everybody' | readonly Role[] | Readonly<Record<Mode, readonly Role[]>>;

const ALL = ROLES;
const ADMINS = ['owner', 'admin'] as const;
/** Who changes payments: they are other people in each mode. */
const CHANGERS = {
  test: ['owner', 'admin', 'developer', 'support'],
  live: ['owner', 'admin', 'support'],
} as const;

/** Every route of the dashboard's API: one that is not here fails, and so does one here that is not there. */
const TABLE: Readonly<Record<string, Cell>> = {
  'GET /dashboard/api/session': 'anybody',
  'POST /dashboard/api/links/look': 'anybody',
  'POST /dashboard/api/links/accept': 'anybody',
  'POST /dashboard/api/sign-in': 'anybody',
  'POST /dashboard/api/sign-in/code': 'anybody',
  'POST /dashboard/api/sign-in/recovery-code': 'anybody',
  'POST /dashboard/api/sign-in/passkey/options': 'anybody',
  'POST /dashboard/api/sign-in/passkey': 'anybody',
  'POST /dashboard/api/sign-out': 'anybody',
  'POST /dashboard/api/prove/passkey': 'everybody',
  'POST /dashboard/api/prove': 'everybody',
  'GET /dashboard/api/account/sessions': 'everybody',
  'POST /dashboard/api/account/sessions/end': 'everybody',
  'POST /dashboard/api/account/sessions/end-all': 'everybody',
  'POST /dashboard/api/account/password': 'everybody',
  'POST /dashboard/api/account/email': 'everybody',
  'POST /dashboard/api/account/totp/start': 'everybody',
  'POST /dashboard/api/account/totp/confirm': 'everybody',
  'POST /dashboard/api/account/totp/remove': 'everybody',
  'GET /dashboard/api/account/passkeys': 'everybody',
  'POST /dashboard/api/account/passkeys/options': 'everybody',
  'POST /dashboard/api/account/passkeys/add': 'everybody',
  'POST /dashboard/api/account/passkeys/remove': 'everybody',
  'POST /dashboard/api/account/recovery-codes': 'everybody',
  'GET /dashboard/api/people': ADMINS,
  'POST /dashboard/api/people/invite': ['owner'],
  'POST /dashboard/api/people/role': ['owner'],
  'POST /dashboard/api/people/reset': ['owner'],
  'POST /dashboard/api/people/deactivate': ['owner'],
  'POST /dashboard/api/projects': ['owner'],
  'GET /dashboard/api/audit': ADMINS,
  'GET /dashboard/api/projects/:project/audit': ADMINS,
  'GET /dashboard/api/projects/:project/:mode/home': ALL,
  'GET /dashboard/api/projects/:project/:mode/payments': ALL,
  'GET /dashboard/api/projects/:project/:mode/payments/:payment': ALL,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/complete': CHANGERS,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/cancel': CHANGERS,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/accept': CHANGERS,
  'POST /dashboard/api/projects/:project/:mode/payments/:payment/simulate': CHANGERS,
  'GET /dashboard/api/projects/:project/:mode/events': ALL,
};

/** Each row, and those below a mode in each of them. */
const ROWS = Object.entries(TABLE).flatMap(([name, cell]): readonly (readonly [string, string | readonly Role[]])[] =>
  (name.includes(':mode') ? MODES : [null]).map((mode) => [
    mode === null ? name : name.replace(':mode', mode),
    typeof cell === 'string' || 'length' in cell ? cell : cell[mode ?? 'live'],
  ]),
);

// A stream would stay open: one too many is refused once the guard has let it pass.
const test = await dashboardTest({ live: { limits: { streams: 0 } } });
afterAll(() => test.http.close());
const { app } = test.http;

/** The routes as they are registered, which is what a browser can reach. */
async function registered(): Promise<readonly string[]> {
  const found: string[] = [];
  const plugin = dashboardRoutes(test.dashboard, null);
  const server = test.http.build({
    side: 'live',
    dashboard: { app, allowed: null, origin: test.people.site.origin, behindProxy: false },
    plugins: [
      (scope: FastifyInstance) => {
        scope.addHook('onRoute', ({ method, url }) => {
          for (const one of [method].flat()) if (one !== 'HEAD') found.push(`${one} ${url}`);
        });
        plugin(scope);
      },
    ],
  });
  await server.ready();
  return found.filter((name) => name.includes(' /dashboard/api/'));
}

it('every route that is registered has its row, and every row its route', async () => {
  expect((await registered()).toSorted()).toEqual(Object.keys(TABLE).toSorted());
  expect(Object.keys(CONTRACT).toSorted()).toEqual(Object.keys(TABLE).toSorted());
});

describe('who gets past the guard', async () => {
  const other = await createProject(app, 'Other');
  if (other.kind !== 'done') throw new Error(other.message);
  const otherId = other.project.id;
  const everywhere = new Map<Role, Member>();
  const inProject = new Map<Role, Member>();
  for (const role of ROLES) {
    everywhere.set(role, await test.join(role));
    inProject.set(role, await test.join(role, app.projectId));
  }

  const payments = new Map<string, string>();
  for (const projectId of [app.projectId, otherId]) {
    for (const mode of MODES) {
      const { id } = await app.pay({ projectId, mode, surface: 'transaction', token: null });
      payments.set(`${projectId} ${mode}`, id);
    }
  }

  /** The status that the guard answers; what comes after it is told by a body that no route takes. */
  const statusOf = async (name: string, member: Member | null, projectId: string): Promise<number> => {
    const [method = '', url = ''] = name.split(' ');
    const browser = member?.browser ?? test.browser();
    // Signed out by its own request it would have nothing more to ask.
    if (member !== null && /sign-out|end-all|links\/accept|sign-in$/.test(name)) return 400;
    const payment = payments.get(`${projectId} ${url.includes('/live/') ? 'live' : 'test'}`) ?? 'x';
    const path = url.replace(':project', projectId).replace(':payment', payment);
    const { status } = await browser.call({ method, path, ...(method === 'POST' ? { body: '[' } : {}) });
    return status;
  };
  const passes = (status: number): boolean => status !== 401 && status !== 403 && status !== 404;

  describe.each(ROWS)('%s', (name, cell) => {
    const isOfProject = name.includes(':project');

    it('signed out', async () => {
      const status = await statusOf(name, null, app.projectId);
      expect(cell === 'anybody' ? passes(status) : status === 401).toBe(true);
    });

    it.each(ALL)('%s of all projects, in each of them', async (role) => {
      const may = typeof cell === 'string' || cell.includes(role);
      for (const projectId of isOfProject ? [app.projectId, otherId] : [app.projectId]) {
        const status = await statusOf(name, everywhere.get(role) ?? null, projectId);
        expect(may ? passes(status) : status === 403).toBe(true);
      }
    });

    it.each(ALL)('%s of one project: there, and nowhere else', async (role) => {
      const own = await statusOf(name, inProject.get(role) ?? null, app.projectId);
      const may = typeof cell === 'string' || (isOfProject && cell.includes(role));
      expect(may ? passes(own) : own === 403).toBe(true);
      if (!isOfProject) return;
      for (const foreign of [otherId, '00000000-0000-7000-8000-000000000000', 'x', '%00', `${app.projectId}%20`]) {
        expect(await statusOf(name, inProject.get(role) ?? null, foreign)).toBe(404);
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
