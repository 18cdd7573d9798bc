import {
  closeLinks,
  findLink,
  insertLink,
  useLink,
  type AccountLink,
  deleteSessions,
} from '../../store/people/sessions.ts';
import type { Trx } from '../../store/database.ts';
import {
  findPerson,
  findPersonByEmail,
  hasPeople,
  insertPerson,
  lockPeople,
  lockPerson,
  setMembership,
  updatePerson,
  type Person,
} from '../../store/people/people.ts';
import type { LinkPurpose } from '../../store/schema/people.ts';
import { recordAudit } from '../audit.ts';
import { forActor, newId, type App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { mailAccountChange } from './account-mail.ts';
import { personName } from './person-name.ts';
import { passwordFault } from './password-rules.ts';
import type { Client } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import { actorOf, startSession, type Started } from './sessions.ts';
import { hashOf, newToken, tokenHash } from './token.ts';

const HOUR_MS = 60 * 60_000;

/**
 * For how long a link is valid, for one use. An invitation waits for somebody who reads mail days later. A person who
 * asks for one of the other links waits for it, and a reset gives access to an existing account.
 */
const VALID_MS = {
  setup: HOUR_MS,
  invitation: 7 * 24 * HOUR_MS,
  reset: HOUR_MS,
  email: HOUR_MS,
} as const satisfies Record<LinkPurpose, number>;

/** A link for its recipient. Only a hash of its token is stored. */
export interface NewLink {
  readonly url: string;
  readonly expiresAt: number;
}

export async function newLink(
  app: App,
  trx: Trx,
  siteUrl: string,
  purpose: LinkPurpose,
  personId: string | null,
): Promise<NewLink> {
  const now = app.clock();
  const token = newToken(app.random);
  const expiresAt = now + VALID_MS[purpose];
  await insertLink(trx, hashOf(token), { purpose, personId, expiresAt }, now);
  return { url: `${siteUrl}/dashboard/setup/${token}`, expiresAt };
}

/** A set-up link; null once anybody has an account. */
export function makeSetupLink(app: App, siteUrl: string): Promise<NewLink | null> {
  return app.db.transaction().execute(async (trx) => {
    if (await hasPeople(trx)) return null;
    return newLink(app, trx, siteUrl, 'setup', null);
  });
}

export type LinkState =
  | {
      readonly kind: 'open';
      readonly purpose: LinkPurpose;
      /** The account's, or the new one that a link confirms; null at set-up. */
      readonly email: string | null;
      readonly name: string | null;
      readonly expiresAt: number;
    }
  | { readonly kind: 'used' | 'expired' | 'unknown' };

export async function linkState(app: App, token: string): Promise<LinkState> {
  const hash = tokenHash(token);
  const link = hash === null ? null : await findLink(app.db, hash);
  if (link === null) return { kind: 'unknown' };
  const person = link.personId === null ? null : await findPerson(app.db, link.personId);
  const { purpose, expiresAt } = link;
  const isTaken = purpose === 'setup' ? await hasPeople(app.db) : person === null || person.deactivatedAt !== null;
  const email = (purpose === 'email' ? person?.pendingEmail : person?.email) ?? null;
  if (link.usedAt !== null || isTaken || (purpose === 'email' && email === null)) return { kind: 'used' };
  if (app.clock() >= expiresAt) return { kind: 'expired' };
  return { kind: 'open', purpose, email, name: person?.name ?? null, expiresAt };
}

export type AcceptOutcome =
  | { readonly kind: 'done'; readonly started: Started }
  | { readonly kind: 'closed'; readonly state: 'used' | 'expired' | 'unknown' }
  | Rejected;

/** Creates the account of a link, or sets a new password, and signs in. Only set-up needs the e-mail. */
export async function acceptLink(
  parts: PeopleParts,
  client: Client,
  given: {
    readonly token: string;
    readonly email: string | null;
    /** Null leaves the name as it is, an empty one removes it. */
    readonly name: string | null;
    readonly password: string;
  },
): Promise<AcceptOutcome> {
  const { app, hasher } = parts;
  const state = await linkState(app, given.token);
  if (state.kind !== 'open') return { kind: 'closed', state: state.kind };
  // The link of a new e-mail address signs nobody in: by a typing error the address may be a stranger's.
  if (state.purpose === 'email') return { kind: 'closed', state: 'unknown' };
  const email = state.email ?? given.email;
  if (email === null) return rejected('email_required', { param: 'email' });
  const name = given.name === null ? null : personName(given.name);
  if (name?.kind === 'rejected') return name;
  const fault = passwordFault(given.password, email);
  if (fault !== null) return fault;
  const hash = tokenHash(given.token);
  const id = `link ${hash?.toString('hex')}`;
  const passwordHash = await hasher.hash(given.password, { kind: 'known', id });
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    const link = hash === null ? null : await findLink(trx, hash);
    if (hash === null || link === null) return { kind: 'closed', state: 'unknown' };
    if (link.purpose === 'setup' && (await hasPeople(trx))) return { kind: 'closed', state: 'used' };
    if (!(await useLink(trx, hash, app.clock()))) return { kind: 'closed', state: 'used' };
    const person = await personOf(app, trx, link, email);
    if (person === null) return { kind: 'closed', state: 'used' };
    const changes = { passwordHash, pendingEmail: null, joinedAt: person.joinedAt ?? app.clock(), ...name?.changes };
    await updatePerson(trx, person.id, changes);
    await closeLinks(trx, person.id, app.clock());
    await deleteSessions(trx, person.id);
    await recordAudit(forActor(app, actorOf(person, client.ip), app.requestId), trx, {
      action: link.purpose === 'reset' ? 'person.password' : 'person.join',
      projectId: null,
      subject: { kind: 'person', id: person.id },
      after: { email: person.email, by: link.purpose, ...name?.changes },
    });
    if (link.purpose === 'reset') {
      await mailAccountChange(forActor(app, actorOf(person, client.ip)), trx, person, 'password');
    }
    return { kind: 'done', started: await startSession(app, trx, { ...person, ...changes }, client, link.purpose) };
  });
}

/** The person of a link. Set-up creates the owner of all projects, or promotes a person who was invited before. */
async function personOf(app: App, trx: Trx, link: AccountLink, email: string): Promise<Person | null> {
  if (link.personId !== null) {
    const person = await lockPerson(trx, link.personId);
    return person === null || person.deactivatedAt !== null ? null : person;
  }
  const now = app.clock();
  const invited = await findPersonByEmail(trx, email);
  const id = invited?.id ?? newId(app, now);
  if (invited === null) await insertPerson(trx, { id, email, createdAt: now });
  await updatePerson(trx, id, { deactivatedAt: null });
  await setMembership(trx, { id: newId(app, now), personId: id, projectId: null, role: 'owner', now });
  return lockPerson(trx, id);
}
