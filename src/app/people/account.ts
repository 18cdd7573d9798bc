import type { Trx } from '../../store/database.ts';
import { listPasskeys } from '../../store/factors.ts';
import { findPersonByEmail, lockPeople, lockPerson, updatePerson, type Person } from '../../store/people.ts';
import { deleteSessions, setChallenge, takeChallenge } from '../../store/sessions.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { giveBack, takeGuess, type TooMany } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import { passwordFault } from './password-rules.ts';
import { CHALLENGE_MS, passkeyHost, requestOptions } from './passkeys.ts';
import { renew, type SignedIn } from './sessions.ts';
import { factorsOf, isRightCode, personByPasskey } from './sign-in.ts';
import { reportGuess, type WrongGuess } from './wrong-guesses.ts';

/** Changes that people make to their own accounts. */

export interface Refused {
  readonly kind: 'refused';
  readonly param: string | null;
  readonly message: string;
}

export const refused = (param: string | null, message: string): Refused => ({ kind: 'refused', param, message });
export const ENDED: Refused = refused(null, 'The session has ended. Sign in again.');

/** The session continues under a new token. */
export interface Renewed {
  readonly kind: 'done';
  readonly signedIn: SignedIn;
  readonly token: string;
}

export type Proof =
  | { readonly kind: 'password'; readonly password: string }
  | { readonly kind: 'totp' | 'recovery_code'; readonly code: string }
  | { readonly kind: 'passkey'; readonly response: object };

/**
 * Confirms the identity of a signed-in person: by a second factor or, without one, by the password. The session gets a
 * new token.
 */
export async function prove(
  parts: PeopleParts,
  signedIn: SignedIn,
  proof: Proof,
): Promise<Renewed | Refused | TooMany> {
  const { app, limits } = parts;
  const { session } = signedIn;
  const guess = [{ bucket: 'proof-session', id: session.id } as const];
  const tooMany = await takeGuess(limits, guess);
  if (tooMany !== null) return tooManyProofs(parts, signedIn, tooMany);
  const fault = await proofFault(parts, signedIn, proof);
  if (fault !== null) {
    reportProof(parts, signedIn, WRONG[proof.kind]);
    return fault;
  }
  await giveBack(limits, guess);
  return app.db.transaction().execute(async (trx) => {
    const renewed = await renew(app, trx, signedIn);
    return renewed === null ? ENDED : { kind: 'done', ...renewed };
  });
}

async function proofFault(parts: PeopleParts, signedIn: SignedIn, proof: Proof): Promise<Refused | null> {
  const { app, hasher } = parts;
  const { person, session } = signedIn;
  const { factors } = await factorsOf(app.db, person);
  switch (proof.kind) {
    case 'password':
      if (factors.length > 0) return refused('password', 'This account has a second factor. Confirm with that.');
      return (await hasher.verify(proof.password, person.passwordHash, 'known')) ? null : WRONG_PASSWORD;
    case 'totp':
    case 'recovery_code':
      return (await isRightCode(parts, app.db, person, proof))
        ? null
        : refused(proof.kind === 'totp' ? 'code' : 'recovery_code', WRONG_CODE);
    case 'passkey': {
      const challenge = await takeChallenge(app.db, session.id, 'prove', app.clock());
      const found =
        challenge === null
          ? null
          : await personByPasskey(parts, challenge, proof.response, { personId: person.id, alone: false });
      return found === null ? refused('passkey', NO_PASSKEY) : null;
    }
  }
}

const WRONG: Readonly<Record<Proof['kind'], WrongGuess>> = {
  password: 'wrong_password',
  totp: 'wrong_code',
  recovery_code: 'wrong_recovery_code',
  passkey: 'wrong_passkey',
};

export function reportProof(parts: PeopleParts, { person, session }: SignedIn, outcome: WrongGuess): void {
  reportGuess(parts, 'proofs', outcome, { personId: person.id, ip: session.ip });
}

export function tooManyProofs(parts: PeopleParts, signedIn: SignedIn, tooMany: TooMany): TooMany {
  reportProof(parts, signedIn, 'too_many');
  return tooMany;
}

const WRONG_PASSWORD = refused('password', 'The password is wrong.');
export const WRONG_CODE =
  'The code is wrong or was used before. Enter the one shown now, and check that the device’s clock is right.';
const NO_PASSKEY = 'This passkey does not match. Try again.';

/** The WebAuthn request for a proof; null if passkeys are not offered or the person has none. */
export async function proofChallenge(
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

/** Changes the password, given the current one. All other sessions end, and this one gets a new token. */
export async function changePassword(
  parts: PeopleParts,
  signedIn: SignedIn,
  given: { readonly current: string; readonly next: string },
): Promise<Renewed | Refused | TooMany> {
  const { app, hasher, limits } = parts;
  const { person, session } = signedIn;
  const fault = passwordFault(given.next, person.email);
  if (fault !== null) return refused('password', fault);
  const guess = [{ bucket: 'proof-session', id: session.id } as const];
  const tooMany = await takeGuess(limits, guess);
  if (tooMany !== null) return tooManyProofs(parts, signedIn, tooMany);
  if (!(await hasher.verify(given.current, person.passwordHash, 'known'))) {
    reportProof(parts, signedIn, 'wrong_password');
    return refused('current_password', 'The current password is wrong.');
  }
  await giveBack(limits, guess);
  const passwordHash = await hasher.hash(given.next);
  return app.db.transaction().execute(async (trx) => {
    // If it was reset or changed in the meantime, the check above no longer holds.
    const now = await lockPerson(trx, person.id);
    if (now?.passwordHash !== person.passwordHash) return ENDED;
    await updatePerson(trx, person.id, { passwordHash });
    await deleteSessions(trx, person.id, session.id);
    await auditOfPerson(app, trx, 'person.password', person);
    // Knowing the password does not prove the second factor, so the time of the last proof stays.
    const renewed = await renew(app, trx, signedIn, session.provedAt);
    return renewed === null ? ENDED : { kind: 'done', ...renewed };
  });
}

/** Changes the e-mail. One that another person has is refused, without saying so, and counts as a wrong guess. */
export async function changeEmail(
  { app, limits }: Pick<PeopleParts, 'app' | 'limits'>,
  { person }: SignedIn,
  email: string,
): Promise<{ readonly kind: 'done'; readonly person: Person } | Refused | TooMany> {
  const guess = [{ bucket: 'email-person', id: person.id } as const];
  const tooMany = await takeGuess(limits, guess);
  if (tooMany !== null) return tooMany;
  const outcome = await saveEmail(app, person, email);
  if (outcome.kind === 'done') await giveBack(limits, guess);
  return outcome;
}

function saveEmail(
  app: App,
  person: Person,
  email: string,
): Promise<{ readonly kind: 'done'; readonly person: Person } | Refused> {
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    const taken = await findPersonByEmail(trx, email);
    if (taken !== null && taken.id !== person.id) {
      return refused('email', 'This e-mail cannot be used here. Enter another one.');
    }
    await updatePerson(trx, person.id, { email });
    await recordAudit(app, trx, {
      action: 'person.email',
      projectId: null,
      subject: { kind: 'person', id: person.id },
      before: { email: person.email },
      after: { email },
    });
    return { kind: 'done', person: { ...person, email } };
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
