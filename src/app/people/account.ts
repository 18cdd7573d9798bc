import type { Trx } from '../../store/database.ts';
import { listPasskeys } from '../../store/people/factors.ts';
import { lockPerson, updatePerson, type Person } from '../../store/people/people.ts';
import { setChallenge, takeChallenge } from '../../store/people/sessions.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { mailAccountChange } from './account-mail.ts';
import { judged, type TooMany } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import { passwordFault } from './password-rules.ts';
import { CHALLENGE_MS, passkeyHost, requestOptions } from './passkeys.ts';
import { endOthers, renew, type InBrowser, type SignedIn } from './sessions.ts';
import { factorsOf } from './begin-session.ts';
import { isRightCode, personByPasskey } from './sign-in.ts';
import { reportGuess, type WrongGuess } from './wrong-guesses.ts';

/** Changes that people make to their own accounts. */

export const ENDED = rejected('session_ended');

/** The session continues under a new token. */
export interface Renewed {
  readonly kind: 'done';
  readonly signedIn: SignedIn;
  readonly token: string;
}

export type Reauthentication =
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly kind: 'passkey'; readonly response: object };

/**
 * Confirms the identity of a signed-in person: by a second factor or, without one, by the password. The session gets a
 * new token.
 */
export async function reauthenticate(
  parts: PeopleParts,
  signedIn: SignedIn,
  reauthentication: Reauthentication,
): Promise<Renewed | Rejected | TooMany> {
  const { app, limits } = parts;
  const { session } = signedIn;
  if (reauthentication.kind === 'password' && (await factorsOf(app.db, signedIn.person)).factors.length > 0) {
    return rejected('second_factor_first', { param: 'password' });
  }
  const guess = [{ bucket: 'reauthentication-session', id: session.id } as const];
  const isRight = await judged(
    limits,
    guess,
    () => isRightReauthentication(parts, signedIn, reauthentication),
    Boolean,
  );
  if (typeof isRight === 'object') return tooManyReauthentications(parts, signedIn, isRight);
  if (!isRight) {
    const { outcome, refusal } = WRONG[reauthentication.kind];
    reportReauthentication(parts, signedIn, outcome);
    return refusal;
  }
  return app.db.transaction().execute(async (trx) => {
    const renewed = await renew(app, trx, signedIn);
    return renewed === null ? ENDED : { kind: 'done', ...renewed };
  });
}

async function isRightReauthentication(
  parts: PeopleParts,
  { person, session }: SignedIn,
  reauthentication: Reauthentication,
): Promise<boolean> {
  const { app, hasher } = parts;
  switch (reauthentication.kind) {
    case 'password':
      return hasher.verify(reauthentication.password, person.passwordHash, { kind: 'known', id: person.id });
    case 'totp':
    case 'recovery_code':
      return isRightCode(parts, app.db, person, reauthentication);
    case 'passkey': {
      const challenge = await takeChallenge(app.db, session.id, 'prove', app.clock());
      if (challenge === null) return false;
      const wanted = { personId: person.id, alone: false };
      return (await personByPasskey(parts, challenge, reauthentication.response, wanted)) !== null;
    }
  }
}

/** The outcome in the log and the refusal shown to the person after a wrong reauthentication. */
const WRONG: Readonly<Record<Reauthentication['kind'], { readonly outcome: WrongGuess; readonly refusal: Rejected }>> =
  {
    password: { outcome: 'wrong_password', refusal: rejected('wrong_password', { param: 'password' }) },
    totp: { outcome: 'wrong_code', refusal: rejected('wrong_code', { param: 'code' }) },
    recovery_code: { outcome: 'wrong_recovery_code', refusal: rejected('wrong_code', { param: 'recoveryCode' }) },
    passkey: { outcome: 'wrong_passkey', refusal: rejected('wrong_passkey', { param: 'passkey' }) },
  };

export function reportReauthentication(parts: PeopleParts, { person, session }: SignedIn, outcome: WrongGuess): void {
  reportGuess(parts, 'proof', outcome, { personId: person.id, ip: session.ip });
}

export function tooManyReauthentications(parts: PeopleParts, signedIn: SignedIn, tooMany: TooMany): TooMany {
  reportReauthentication(parts, signedIn, 'too_many');
  return tooMany;
}

/** The WebAuthn request for reauthentication; null if passkeys are not offered or the person has none. */
export async function reauthenticationChallenge(
  { app, site }: PeopleParts,
  { session, person }: SignedIn,
): Promise<object | null> {
  const host = passkeyHost(site);
  const passkeys = await listPasskeys(app.db, person.id);
  if (host === null || passkeys.length === 0) return null;
  const options = await requestOptions(host, passkeys);
  const until = app.clock() + CHALLENGE_MS;
  await setChallenge(app.db, session.id, { text: options.challenge, use: 'prove', until });
  return options;
}

/** Changes the password, given the current one. Other sessions end, and this one gets a new token. */
export async function changePassword(
  parts: PeopleParts,
  signedIn: InBrowser,
  given: { readonly current: string; readonly next: string },
): Promise<Renewed | Rejected | TooMany> {
  const { app, hasher, limits } = parts;
  const { person, session } = signedIn;
  const fault = passwordFault(given.next, person.email);
  if (fault !== null) return fault;
  const guess = [{ bucket: 'reauthentication-session', id: session.id } as const];
  const whom = { kind: 'known', id: person.id } as const;
  const isRight = await judged(limits, guess, () => hasher.verify(given.current, person.passwordHash, whom), Boolean);
  if (typeof isRight === 'object') return tooManyReauthentications(parts, signedIn, isRight);
  if (!isRight) {
    reportReauthentication(parts, signedIn, 'wrong_password');
    return rejected('wrong_current_password', { param: 'currentPassword' });
  }
  const passwordHash = await hasher.hash(given.next, whom);
  return app.db.transaction().execute(async (trx) => {
    // If the password was reset or changed in the meantime, the check above no longer holds.
    const now = await lockPerson(trx, person.id);
    if (now?.passwordHash !== person.passwordHash) return ENDED;
    // Another person may have requested the pending address.
    const changes = { passwordHash, pendingEmail: null };
    await updatePerson(trx, person.id, changes);
    await endOthers(trx, signedIn);
    await auditOfPerson(app, trx, 'person.password', person);
    await mailAccountChange(app, trx, person, 'password');
    // Knowing the password does not prove the second factor, so the time of the last reauthentication stays.
    const renewed = await renew(app, trx, { ...signedIn, person: { ...now, ...changes } }, session.provedAt);
    return renewed === null ? ENDED : { kind: 'done', ...renewed };
  });
}

/** Records a change to a person's own account. */
export const auditOfPerson = (
  app: App,
  trx: Trx,
  action: string,
  person: Person,
  after: Readonly<Record<string, unknown>> = {},
): Promise<void> =>
  recordAudit(app, trx, {
    action,
    projectId: null,
    subject: { kind: 'person', id: person.id },
    after: { email: person.email, ...after },
  });
