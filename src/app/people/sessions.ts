import { REAUTHENTICATION_MS, type Membership } from '../../domain/role.ts';
import type { Trx } from '../../store/database.ts';
import {
  deleteSession,
  deleteSessions,
  findSession,
  insertSession,
  listSessions,
  renewSession,
  touchSession,
  type Session,
  findKnownBrowser,
  forgetKnownBrowsers,
  saveKnownBrowser,
} from '../../store/people/sessions.ts';
import { lacksFactor } from '../../store/people/factors.ts';
import { rememberLanguage } from '../../store/people/mails.ts';
import { findPerson, lockPerson, membershipsOf, type Person } from '../../store/people/people.ts';
import { recordAudit } from '../audit.ts';
import { type Actor, forActor, newId, type App } from '../context.ts';
import type { Client } from './guess-limits.ts';
import { hashOf, newToken, tokenHash } from './token.ts';

/** A session ends after this long without use, and in any case SESSION_MS after the sign-in. */
export const IDLE_MS = 12 * 60 * 60_000;
export const SESSION_MS = 7 * 24 * 60 * 60_000;
/** Use within this time of the last recorded use is not recorded. */
const TOUCH_MS = 60_000;
/** A reauthentication further in the future was made before the clock was set back, and no longer counts. */
const MAX_SKEW_MS = 60_000;
const MAX_USER_AGENT = 300;

/** A session and its person. */
export interface SignedIn {
  readonly session: Session;
  readonly person: Person;
  readonly memberships: readonly Membership[];
  /** Whether a role requires a second factor that the person lacks: the session may do nothing but add one. */
  readonly mustAddFactor: boolean;
}

/** A session with the token by which its browser is recognized. */
export interface InBrowser extends SignedIn {
  readonly browserToken: string | null;
}

/** A new session with the tokens for its cookies, which are not stored. */
export interface Started extends SignedIn {
  readonly token: string;
  /** Null if the browser has a token already. */
  readonly browserToken: string | null;
}

export function endsAt(session: Session): number {
  return session.signedInAt + SESSION_MS;
}

export function idleEndsAt(session: Session): number {
  return Math.min(session.lastUsedAt + IDLE_MS, endsAt(session));
}

/** When the last reauthentication expires; null if it has. */
export function reauthenticatedUntil(session: Session, now: number): number | null {
  const until = session.provedAt + REAUTHENTICATION_MS;
  return now < until && session.provedAt <= now + MAX_SKEW_MS ? until : null;
}

/** The session of a cookie's token; null if there is none, it has ended or the person was deactivated. */
export async function findSignedIn(app: App, token: string, ip: string): Promise<SignedIn | null> {
  const hash = tokenHash(token);
  if (hash === null) return null;
  const session = await findSession(app.db, hash);
  const now = app.clock();
  if (session === null || now >= idleEndsAt(session)) return null;
  const [person, memberships, mustAddFactor] = await Promise.all([
    findPerson(app.db, session.personId),
    membershipsOf(app.db, session.personId),
    lacksFactor(app.db, session.personId),
  ]);
  if (person === null || person.deactivatedAt !== null) return null;
  const found = { session, person, memberships, mustAddFactor };
  if (now - session.lastUsedAt < TOUCH_MS && session.ip === ip) return found;
  await touchSession(app.db, session.id, now, ip);
  return { ...found, session: { ...session, lastUsedAt: Math.max(now, session.lastUsedAt), ip } };
}

export function actorOf(person: Person, ip: string): Actor {
  return { kind: 'person', id: person.id, name: person.email, ip };
}

/**
 * Signs a person in with a new session, which replaces the browser's current one. `way` is the kind of sign-in, for the
 * audit log.
 */
export async function startSession(app: App, trx: Trx, person: Person, client: Client, way: string): Promise<Started> {
  const now = app.clock();
  const previousHash = client.sessionToken === null ? null : tokenHash(client.sessionToken);
  const previous = previousHash === null ? null : await findSession(trx, previousHash);
  if (previous !== null) await deleteSession(trx, previous.personId, previous.id);
  const token = newToken(app.random);
  const session: Session = {
    id: newId(app, now),
    personId: person.id,
    signedInAt: now,
    lastUsedAt: now,
    provedAt: now,
    ip: client.ip,
    userAgent: client.userAgent?.slice(0, MAX_USER_AGENT) ?? null,
    challenge: null,
  };
  await insertSession(trx, hashOf(token), session);
  await rememberLanguage(trx, person.id, client.language ?? null);
  const browserHash = client.browserToken === null ? null : tokenHash(client.browserToken);
  const isKnown = browserHash !== null && (await findKnownBrowser(trx, browserHash)) === person.id;
  const browserToken = newToken(app.random);
  await saveKnownBrowser(trx, isKnown ? browserHash : hashOf(browserToken), person.id, now);
  await recordAudit(forActor(app, actorOf(person, client.ip), app.requestId), trx, {
    action: 'person.sign_in',
    projectId: null,
    subject: { kind: 'session', id: session.id },
    after: { by: way, user_agent: session.userAgent },
  });
  const memberships = await membershipsOf(trx, person.id);
  const mustAddFactor = await lacksFactor(trx, person.id);
  return { session, person, memberships, mustAddFactor, token, browserToken: isKnown ? null : browserToken };
}

/** Gives the session a new token and a new time of reauthentication. Null if the session has ended in the meantime. */
export async function renew(
  app: App,
  trx: Trx,
  signedIn: SignedIn,
  provedAt: number = app.clock(),
): Promise<{ readonly signedIn: SignedIn; readonly token: string } | null> {
  const token = newToken(app.random);
  if (!(await renewSession(trx, signedIn.session.id, hashOf(token), provedAt))) return null;
  return { signedIn: { ...signedIn, session: { ...signedIn.session, provedAt, challenge: null } }, token };
}

/** Ends the current session. */
export async function signOut(app: App, { session, person }: SignedIn): Promise<void> {
  await app.db.transaction().execute(async (trx) => {
    if (!(await deleteSession(trx, person.id, session.id))) return;
    await recordAudit(app, trx, {
      action: 'session.end',
      projectId: null,
      subject: { kind: 'session', id: session.id },
    });
  });
}

export function sessionsOf(app: App, personId: string): Promise<readonly Session[]> {
  return listSessions(app.db, personId).then((sessions) =>
    sessions.filter((session) => app.clock() < idleEndsAt(session)),
  );
}

/** Ends one of the person's sessions; false if there is no such session. */
export function endSession(app: App, personId: string, id: string): Promise<boolean> {
  return app.db.transaction().execute(async (trx) => {
    if (!(await deleteSession(trx, personId, id))) return false;
    await recordAudit(app, trx, { action: 'session.end', projectId: null, subject: { kind: 'session', id } });
    return true;
  });
}

/**
 * Ends a person's other sessions and forgets their other browsers after a password or second factor was changed: an
 * intruder who knew the former one may be signed in (ASVS 5, 7.4.3).
 */
export async function endOthers(trx: Trx, { session, person, browserToken }: InBrowser): Promise<void> {
  await deleteSessions(trx, person.id, session.id);
  await forgetKnownBrowsers(trx, person.id, browserToken === null ? null : tokenHash(browserToken));
}

export function endAllSessions(app: App, personId: string): Promise<void> {
  return app.db.transaction().execute(async (trx) => {
    // First, like a sign-in, so that one of the two waits for the other.
    await lockPerson(trx, personId);
    await deleteSessions(trx, personId);
    await recordAudit(app, trx, {
      action: 'session.end_all',
      projectId: null,
      subject: { kind: 'person', id: personId },
    });
  });
}
