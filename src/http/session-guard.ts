import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Access } from '../app/projects/access.ts';
import { findSignedIn, provedUntil, type SignedIn } from '../app/people/sessions.ts';
import type { App } from '../app/context.ts';
import { parseUuid } from '../domain/id.ts';
import { MODES } from '../domain/permission.ts';
import {
  CHANGE_PAYMENTS,
  isDangerous,
  isProjectAction,
  mayDo,
  refusalOf,
  roleIn,
  type Action,
} from '../domain/role.ts';
import { isOn, type AllowList } from './auth.ts';
import { clientAddress } from './client.ts';
import { readCookie } from './cookies.ts';
import { notFound, RequestError } from './errors.ts';
import { cameEncrypted } from './https-rule.ts';

/**
 * What a route of the dashboard takes. `anybody`: no session. `own_account`: a session, whatever its role.
 * `change_payments`: the action of the mode in the path. Actions of a project are asked for in the project that the
 * path names.
 */
export interface SessionRule {
  readonly kind: 'session';
  readonly action: 'anybody' | 'own_account' | 'change_payments' | Action;
  /** Asks for a proof that is not older than ten minutes, as dangerous actions always do. */
  readonly asksProof?: true;
}

/** What the guard of the dashboard works with. */
export interface DashboardGuard {
  readonly app: App;
  /** Who may reach it at all; null: everybody. */
  readonly allowed: AllowList | null;
  /** The origin of `DASHBOARD_URL`. */
  readonly origin: string;
  /** Whether `TRUST_PROXY` is set. */
  readonly behindProxy: boolean;
}

/** A route that could not be guarded does not register. */
export function checkSessionRoute(url: string, method: string, rule: { readonly kind: string } | null): void {
  const told = `The route ${method} ${url}`;
  if (rule?.kind !== 'session') throw new Error(`${told} says no guard of kind "session".`);
  const { action } = rule as SessionRule;
  const names = (part: string): boolean => url.split('/').includes(part);
  const inProject =
    action === 'change_payments' || (action !== 'anybody' && action !== 'own_account' && isProjectAction(action));
  if (inProject !== names(':project')) {
    throw new Error(`${told} ${inProject ? 'needs' : 'cannot have'} :project in its path for the action ${action}.`);
  }
  if (action === 'change_payments' && !names(':mode')) throw new Error(`${told} needs :mode in its path.`);
}

/** How requests are counted, and what is wrong with the headers of this one. */
interface Counting {
  readonly fault: RequestError | null;
  readonly countClient: () => Promise<void>;
  /** Tells what is left, without counting. */
  readonly tellClient: () => Promise<void>;
  readonly countSession: (id: string) => Promise<void>;
}

/**
 * Throws what stands against the request: who may reach it, the page that it comes from, session, limit, role, proof.
 */
export async function guardDashboard(
  request: FastifyRequest,
  reply: FastifyReply,
  { dashboard, access }: { readonly dashboard: DashboardGuard | null; readonly access: Access },
  rule: SessionRule | { readonly kind: 'dashboard'; readonly isCounted: boolean },
  { fault, countClient, tellClient, countSession }: Counting,
): Promise<void> {
  if (dashboard === null) throw new Error('The dashboard has routes, and no guard.');
  const isReachable = dashboard.allowed === null || isOn(dashboard.allowed, clientAddress(request));
  const token = rule.kind === 'session' && isReachable ? readCookie(request, 'session', dashboard.behindProxy) : null;
  const signedIn = token === null ? null : await findSignedIn(dashboard.app, token, clientAddress(request));
  if (signedIn !== null) await countSession(signedIn.session.id);
  else if (rule.kind === 'session' || rule.isCounted) await countClient();
  else await tellClient();
  if (!isReachable) {
    throw new RequestError(
      'permission_error',
      'The dashboard cannot be reached from this address. The operator says from where it can, with DASHBOARD_ALLOW_CIDRS.',
    );
  }
  if (fault !== null) throw fault;
  if (rule.kind === 'dashboard') return;
  // What one person sees is no cache's, and no other site's.
  void reply.header('cross-origin-resource-policy', 'same-origin');
  const forged = request.method === 'GET' || request.method === 'HEAD' ? null : forgery(request, dashboard);
  if (forged !== null) throw forged;
  request.signedIn = signedIn;
  if (rule.action === 'anybody') return;
  if (signedIn === null) {
    throw new RequestError(
      'authentication_error',
      'Nobody is signed in here, or the session has ended. Sign in again.',
    );
  }
  await authorise(request, access, signedIn, rule);
  const asksProof = rule.asksProof === true || isDangerousHere(rule);
  if (asksProof && provedUntil(signedIn.session, dashboard.app.clock()) === null) {
    throw new RequestError('proof_required', 'Prove again that it is you: the last proof is older than ten minutes.');
  }
}

function isDangerousHere({ action }: SessionRule): boolean {
  return action !== 'anybody' && action !== 'own_account' && action !== 'change_payments' && isDangerous(action);
}

async function authorise(
  request: FastifyRequest,
  access: Access,
  { memberships }: SignedIn,
  { action: wanted }: SessionRule,
): Promise<void> {
  if (wanted === 'anybody' || wanted === 'own_account') return;
  const { project, mode: modeText } = request.params as { readonly project?: string; readonly mode?: string };
  const mode = MODES.find((one) => one === modeText);
  if (modeText !== undefined && mode === undefined) throw notFound('There is no such mode: it is test or live.');
  const action = wanted === 'change_payments' ? CHANGE_PAYMENTS[mode ?? 'live'] : wanted;
  const projectId = isProjectAction(action) ? parseUuid(project ?? '') : null;
  const role = roleIn(memberships, projectId);
  if (isProjectAction(action)) {
    // A project that is none of theirs is told of as one that is not there.
    const found = projectId === null || role === null ? null : await access.project(projectId);
    if (found === null) throw notFound('There is no such project.');
  }
  if (role === null || !mayDo(role, action)) throw new RequestError('permission_error', refusalOf(role, action));
}

/**
 * Why a change may come from a page of somebody else (CSRF). Browsers say which site a request comes from (Fetch
 * Metadata), and older ones its origin; what says neither is no browser, and has no business with a session's cookie.
 */
function forgery(request: FastifyRequest, { origin, behindProxy }: DashboardGuard): RequestError | null {
  const { origin: from, 'sec-fetch-site': site } = request.headers;
  const own = `${cameEncrypted(request, behindProxy) ? 'https' : 'http'}://${request.host}`;
  const isOwn = from === undefined ? site === 'same-origin' : from === origin || from === own;
  if (isOwn && (site === undefined || site === 'same-origin')) return null;
  return new RequestError(
    'permission_error',
    'A change must come from a page of the dashboard itself: the Origin and Sec-Fetch-Site headers say otherwise. Open the dashboard at DASHBOARD_URL.',
  );
}
