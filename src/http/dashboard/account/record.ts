import type { FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import { endsAt, idleEndsAt, reauthenticatedUntil, sessionsOf, type SignedIn } from '../../../app/people/sessions.ts';
import { factorsOf } from '../../../app/people/begin-session.ts';
import { waitingSignIn } from '../../../app/people/sign-in.ts';
import { actionsOf, roleIn, type Membership } from '../../../domain/role.ts';
import { countRecoveryCodes } from '../../../store/people/factors.ts';
import { hasPeople } from '../../../store/people/people.ts';
import type { Session } from '../../../store/people/sessions.ts';
import { listProjects, projectsWithLivePayments } from '../../../store/projects/projects.ts';
import { isoTime, isoTimeOrNull } from '../../../wire/time.ts';
import { readCookie } from '../../cookies.ts';
import type { Dashboard } from '../route.ts';
import type { SessionAnswer, SessionProject, SessionView } from './contract.ts';

function serviceView({ people: { site }, version }: Dashboard) {
  const { passkeys, url } = site;
  return {
    version,
    passkeys:
      passkeys.kind === 'offered'
        ? { offered: true as const, dashboard_url: url }
        : { offered: false as const, reason: passkeys.reason, dashboard_url: url },
  };
}

/** The signed-in person, or whether a sign-in waits for its second step. */
export async function sessionView(dashboard: Dashboard, request: FastifyRequest): Promise<SessionAnswer> {
  if (request.signedIn !== null) return signedInView(dashboard, request.signedIn);
  const { app } = dashboard.people;
  const factors = await waitingSignIn(app, readCookie(request, 'sign_in', dashboard.behindProxy));
  if (factors !== null) return { state: 'second_factor', ...serviceView(dashboard), factors: [...factors] };
  return { state: 'signed_out', ...serviceView(dashboard), has_people: await hasPeople(app.db) };
}

export function secondFactorView(
  dashboard: Dashboard,
  factors: readonly ('totp' | 'passkey' | 'recovery_code')[],
): SessionAnswer {
  return { state: 'second_factor', ...serviceView(dashboard), factors: [...factors] };
}

export async function signedInView(dashboard: Dashboard, signedIn: SignedIn): Promise<SessionAnswer> {
  const { app } = dashboard.people;
  const { session, person, mustAddFactor } = signedIn;
  const memberships = mustAddFactor ? [] : signedIn.memberships;
  const [{ factors, passkeys }, codes, projects] = await Promise.all([
    factorsOf(app.db, person),
    countRecoveryCodes(app.db, person.id),
    projectViews(app, memberships),
  ]);
  const role = roleIn(memberships, null);
  return {
    state: 'signed_in',
    ...serviceView(dashboard),
    must_add_factor: mustAddFactor,
    person: {
      id: person.id,
      email: person.email,
      name: person.name,
      pending_email: person.pendingEmail,
      role,
      actions: [...actionsOf(role, 'service')],
    },
    session: {
      id: session.id,
      ends_at: isoTime(endsAt(session)),
      idle_ends_at: isoTime(idleEndsAt(session)),
      reauthenticated_until: isoTimeOrNull(reauthenticatedUntil(session, app.clock())),
      reauthentication_ways: factors.length === 0 ? ['password'] : [...factors],
    },
    factors: {
      totp: person.sealedTotp !== null,
      passkeys: passkeys.length,
      recovery_codes_left: codes,
    },
    projects: [...projects],
  };
}

async function projectViews(app: App, memberships: readonly Membership[]): Promise<readonly SessionProject[]> {
  const [projects, live] = await Promise.all([listProjects(app.db), projectsWithLivePayments(app.db)]);
  return projects.flatMap(({ id, name, active }) => {
    const role = roleIn(memberships, id);
    if (role === null) return [];
    return [{ id, name, active, role, actions: [...actionsOf(role, 'project')], has_live_payments: live.has(id) }];
  });
}

/** A person's sessions; `current` is the request's. */
export async function sessionViews(app: App, personId: string, current: Session): Promise<SessionView[]> {
  return (await sessionsOf(app, personId)).map((one) => ({
    id: one.id,
    is_current: one.id === current.id,
    signed_in_at: isoTime(one.signedInAt),
    last_used_at: isoTime(one.lastUsedAt),
    ip: one.ip,
    user_agent: one.userAgent,
  }));
}
