import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../app/projects/access.ts';
import { isOn, type AllowList } from '../app/projects/allow-list.ts';
import { findSignedIn, reauthenticatedUntil, type SignedIn } from '../app/people/sessions.ts';
import type { App } from '../app/context.ts';
import { hashOf } from '../app/people/token.ts';
import { parseUuid } from '../domain/id.ts';
import { MODES } from '../domain/permission.ts';
import {
  CHANGE_PAYMENTS,
  MANAGE_KEYS,
  isDangerous,
  isProjectAction,
  mayDo,
  roleIn,
  type Action,
} from '../domain/role.ts';
import { clientAddress } from './client.ts';
import { readCookie } from './cookies.ts';
import { notFound, RequestError } from './errors.ts';
import { roleError, sentenceError } from './page-sentences.ts';
import { cameEncrypted, isFromDeveloper, type HttpsPolicy } from './https-rule.ts';

/** Rights that are another action in each mode. */
const BY_MODE = { change_payments: CHANGE_PAYMENTS, manage_keys: MANAGE_KEYS } as const;
const isByMode = (action: SessionRule['action']): action is keyof typeof BY_MODE => Object.hasOwn(BY_MODE, action);

/**
 * The session that a route of the dashboard requires. `anybody`: no session. `own_account`: a session with any role.
 * `change_payments`, `manage_keys`: the action for the path's mode. Actions of a project are checked in the path's
 * project.
 */
export interface SessionRule {
  readonly kind: 'session';
  readonly action: 'anybody' | 'own_account' | keyof typeof BY_MODE | Action;
  /** Requires reauthentication within the last ten minutes, as dangerous actions always do. */
  readonly asksReauthentication?: true;
  /** Also for a person who must add a second factor first. */
  readonly addsFactor?: true;
}

/** The dependencies of the dashboard's guard. */
export interface DashboardGuard {
  readonly app: App;
  /** The addresses that may reach it; null for all. */
  readonly allowed: AllowList | null;
  /** The origin of `DASHBOARD_URL`. */
  readonly origin: string;
  /** The host name of `DASHBOARD_URL` if that is set: the dashboard is at no other. Otherwise null. */
  readonly host?: string | null;
  /** Whether `TRUST_PROXY` is set. */
  readonly behindProxy: boolean;
  /** The hashed tokens of sessions that this process has seen, latest last. */
  readonly seenSessions: Set<string>;
}

/** @throws Error for a route that could not be guarded */
export function checkSessionRoute(url: string, method: string, rule: { readonly kind: string } | null): void {
  const route = `The route ${method} ${url}`;
  if (rule?.kind !== 'session') throw new Error(`${route} has no guard of kind "session".`);
  const { action } = rule as SessionRule;
  const names = (part: string): boolean => url.split('/').includes(part);
  const inProject = isByMode(action) || (action !== 'anybody' && action !== 'own_account' && isProjectAction(action));
  if (inProject !== names(':project')) {
    throw new Error(`${route} ${inProject ? 'needs' : 'cannot have'} :project in its path for the action ${action}.`);
  }
  if (isByMode(action) && !names(':mode')) throw new Error(`${route} needs :mode in its path.`);
}

/** The counters of the rate limit, and the fault of the request's headers. */
interface Counting {
  readonly fault: RequestError | null;
  readonly countClient: () => Promise<void>;
  /** Sends the headers of the rate limit without counting. */
  readonly showLimit: () => Promise<void>;
  readonly countSession: (id: string) => Promise<void>;
  /** Refuses a client that sent too many cookies of no session. */
  readonly admitUnknown: () => Promise<void>;
  readonly countUnknown: () => Promise<void>;
}

/**
 * Checks address, rate limit, origin, session, role and reauthentication.
 *
 * @throws RequestError for the first of them that refuses the request
 */
export async function guardDashboard(
  request: FastifyRequest,
  reply: FastifyReply,
  {
    dashboard,
    access,
    https,
  }: { readonly dashboard: DashboardGuard | null; readonly access: Access; readonly https: HttpsPolicy },
  rule: SessionRule | { readonly kind: 'dashboard'; readonly isCounted: boolean },
  { fault, countClient, showLimit, countSession, ...unknown }: Counting,
): Promise<void> {
  if (dashboard === null) throw new Error('The dashboard has routes, and no guard.');
  const isReachable = dashboard.allowed === null || isOn(dashboard.allowed, clientAddress(request));
  const token = rule.kind === 'session' && isReachable ? readCookie(request, 'session', dashboard.behindProxy) : null;
  const signedIn = token === null ? null : await sessionOf(request, dashboard, token, unknown);
  if (signedIn !== null) await countSession(signedIn.session.id);
  else if (rule.kind === 'session' || rule.isCounted) await countClient();
  else await showLimit();
  if (!isReachable) {
    throw new RequestError('permission_error', UNREACHABLE);
  }
  if (fault !== null) throw fault;
  if (!isAtHost(request, dashboard) && !isFromDeveloper(request, https)) throw notFound(ELSEWHERE);
  if (rule.kind === 'dashboard') return;
  // Other sites may not embed one person's data.
  void reply.header('cross-origin-resource-policy', 'same-origin');
  const forged = request.method === 'GET' || request.method === 'HEAD' ? null : forgery(request, dashboard, https);
  if (forged !== null) throw forged;
  request.signedIn = signedIn;
  if (rule.action === 'anybody') return;
  if (signedIn === null) {
    throw new RequestError('authentication_error', 'You are not signed in, or your session has ended. Sign in again.');
  }
  if (signedIn.mustAddFactor && rule.addsFactor !== true) throw factorFirst();
  const action = await authorise(request, access, signedIn, rule);
  const asksReauthentication = rule.asksReauthentication === true || (action !== null && isDangerous(action));
  if (asksReauthentication) requireReauthentication(signedIn, dashboard.app.clock());
}

function factorFirst(): RequestError {
  return sentenceError('second_factor_required', 'factor_first');
}

/** @throws RequestError unless the person reauthenticated within the last ten minutes */
export function requireReauthentication({ session }: SignedIn, now: number): void {
  if (reauthenticatedUntil(session, now) === null) {
    throw new RequestError(
      'reauthentication_required',
      'Confirm your identity again. You last did so more than ten minutes ago.',
    );
  }
}

const MAX_SEEN = 10_000;

/**
 * The session of a cookie. A client that invents cookies has no more of them looked up once it has used up its
 * requests; sessions that this process has seen continue, so that nobody shuts out others behind the same address.
 */
async function sessionOf(
  request: FastifyRequest,
  dashboard: DashboardGuard,
  token: string,
  { admitUnknown, countUnknown }: Pick<Counting, 'admitUnknown' | 'countUnknown'>,
): Promise<SignedIn | null> {
  const { seenSessions } = dashboard;
  const key = hashOf(token).toString('base64');
  if (!seenSessions.has(key)) await admitUnknown();
  const signedIn = await findSignedIn(dashboard.app, token, clientAddress(request));
  seenSessions.delete(key);
  if (signedIn === null) await countUnknown();
  else seenSessions.add(key);
  const [oldest] = seenSessions;
  if (seenSessions.size > MAX_SEEN && oldest !== undefined) seenSessions.delete(oldest);
  return signedIn;
}

/** The action that the request requires; null: any session may. */
async function authorise(
  request: FastifyRequest,
  access: Access,
  { memberships }: SignedIn,
  { action: wanted }: SessionRule,
): Promise<Action | null> {
  if (wanted === 'anybody' || wanted === 'own_account') return null;
  const { project, mode: modeText } = request.params as { readonly project?: string; readonly mode?: string };
  const mode = MODES.find((one) => one === modeText);
  if (modeText !== undefined && mode === undefined) throw notFound('The mode must be test or live.');
  const action = isByMode(wanted) ? BY_MODE[wanted][mode ?? 'live'] : wanted;
  const projectId = isProjectAction(action) ? parseUuid(project ?? '') : null;
  const role = roleIn(memberships, projectId);
  if (isProjectAction(action)) {
    // Other people's projects get the same answer as ones that do not exist.
    const found = projectId === null || role === null ? null : await access.project(projectId);
    if (found === null) throw notFound('There is no such project.');
  }
  if (!mayDo(role, action)) throw roleError(role, action);
  return action;
}

export const UNREACHABLE =
  'The dashboard cannot be reached from this IP address. The operator sets the allowed addresses with DASHBOARD_ALLOW_CIDRS.';

const ELSEWHERE =
  'The dashboard is available only at the host of DASHBOARD_URL, not at this host. A proxy in front of the dashboard must pass on the original Host header.';

/** Ports are not compared: a proxy may omit its own. */
function isAtHost({ hostname }: FastifyRequest, { host = null }: DashboardGuard): boolean {
  return host === null || hostname.toLowerCase() === host;
}

/**
 * The refusal of a change that may come from another site's page (CSRF); null if it does not. Browsers send the site
 * (Fetch Metadata) or, if older, the origin. Requests with neither come from no browser and may not use its session.
 */
function forgery(request: FastifyRequest, dashboard: DashboardGuard, https: HttpsPolicy): RequestError | null {
  const { origin, behindProxy } = dashboard;
  const { origin: from, 'sec-fetch-site': site } = request.headers;
  const own = `${cameEncrypted(request, behindProxy) ? 'https' : 'http'}://${request.host}`;
  // If DASHBOARD_URL is set, a request for another host that came this far is from a developer.
  const mayBeOwn = (dashboard.host ?? null) === null || isFromDeveloper(request, https);
  const isOwn = from === undefined ? site === 'same-origin' : from === origin || (mayBeOwn && from === own);
  if (isOwn && (site === undefined || site === 'same-origin')) return null;
  return new RequestError(
    'permission_error',
    'A change must come from a page of the dashboard itself, but the Origin and Sec-Fetch-Site headers show another origin. Open the dashboard at DASHBOARD_URL.',
  );
}
