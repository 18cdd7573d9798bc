import type { Database } from '../../store/database.ts';
import { findPasskey, listPasskeys, useRecoveryCode, usePasskey } from '../../store/people/factors.ts';
import { findPerson, findPersonByEmail, takeTotpStep, type Person } from '../../store/people/people.ts';
import { deleteSignIn, findSignIn, insertSignIn, setSignInChallenge } from '../../store/people/sessions.ts';
import type { App } from '../context.ts';
import { mailCodesUsedUp } from './account-mail.ts';
import { begin, enter, factorsOf, type Factor, type SignInOutcome } from './begin-session.ts';
import { guessesOf, judged, type TooMany, type Client } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import type { HashedFor } from './password-hash.ts';
import { checkAssertion, credentialIdOf, passkeyHost, requestOptions } from './passkeys.ts';
import { recoveryCodeHash } from './recovery-codes.ts';
import { renewedMeanwhile, renewHash } from './renew-hash.ts';
import { hashOf, newToken, tokenHash } from './token.ts';
import { checkTotp, stepOfPerson } from './totp.ts';
import { reportGuess, type WrongGuess } from './wrong-guesses.ts';

/** How long a sign-in waits for its second step. */
export const SIGN_IN_MS = 10 * 60_000;

/** The credentials typed at sign-in. */
interface Given {
  readonly email: string;
  readonly password: string;
  /** The authenticator's code, so that password and code are judged together. */
  readonly code?: string | undefined;
}

/**
 * The first step: e-mail and password. Unknown e-mails take as long as known ones and get the same answer. Guesses from
 * elsewhere do not block a person in a browser that they signed in with before, nor a person who gives a code with the
 * password: the account's limit protects passwords, and an attempt with a code does not reveal whether the password
 * alone is right.
 */
export async function signIn(parts: PeopleParts, client: Client, given: Given): Promise<SignInOutcome> {
  const { app } = parts;
  const person = await findPersonByEmail(app.db, given.email);
  const all = await guessesOf(app, client, 'password', person?.id ?? null, given.email.toLowerCase());
  const guesses = given.code === undefined ? all : all.filter(({ bucket }) => bucket !== 'password-account');
  const isKnown = guesses.some(({ bucket }) => bucket === 'password-browser');
  const whom: HashedFor =
    isKnown && person !== null ? { kind: 'known', id: person.id } : { kind: 'stranger', id: client.range };
  const active = person?.deactivatedAt === null ? person : null;
  const wrong = await judged(
    parts.limits,
    guesses,
    () => wrongOf(parts, active, given, whom, client.ip),
    // Codes that were not checked beside a right password count no more than that password alone.
    (found) => typeof found !== 'string',
  );
  const report = (outcome: WrongGuess) =>
    reportGuess(parts, 'sign-in', outcome, { personId: person?.id ?? null, ip: client.ip });
  if (typeof wrong === 'object' && wrong !== null) {
    report('too_many');
    return wrong;
  }
  if (wrong !== null || active === null) {
    report(wrong ?? 'wrong_password');
    return { kind: 'wrong' };
  }
  const passwordHash = await renewHash(parts, active, given.password);
  const codes = given.code === undefined ? null : await parts.sealingKeys();
  const outcome = await enter(app, active, client, { passwordHash, codes });
  if (outcome.kind !== 'wrong') return outcome;
  const renewed = await renewedMeanwhile(parts, active, given.password, passwordHash);
  if (renewed === null) return outcome;
  return enter(app, active, client, { passwordHash: renewed, codes });
}

/**
 * The fault of a first step; null if there is none. Neither the answer nor the time tells whether the password or the
 * code is wrong: the code is looked at first, and counts for nobody if the password is wrong. The code limit is
 * revealed only after the right password, as in the second step.
 */
async function wrongOf(
  { app, hasher, limits, sealingKeys }: PeopleParts,
  person: Person | null,
  { password, code }: Given,
  whom: HashedFor,
  ip: string,
): Promise<WrongGuess | TooMany | null> {
  const step =
    code === undefined || person === null ? null : stepOfPerson(await sealingKeys(), person, code, app.clock());
  const isPassword = await hasher.verify(password, person?.passwordHash ?? null, whom);
  if (code !== undefined) {
    const counted = [{ bucket: 'code-account', id: isPassword && person !== null ? person.id : '' } as const];
    const isCode = await judged(
      limits,
      counted,
      async () => isPassword && person !== null && step !== null && (await takeTotpStep(app.db, person.id, step)),
      Boolean,
      async () => (isPassword && person !== null ? mailCodesUsedUp(app, person, ip) : undefined),
    );
    if (isPassword && isCode !== true) return isCode === false ? 'wrong_code' : isCode;
  }
  return isPassword ? null : 'wrong_password';
}

/** The factors that can complete a sign-in; null if no sign-in waits for its second step. */
export async function waitingSignIn(app: App, token: string | null): Promise<readonly Factor[] | null> {
  const found = await waitingFor(app, token);
  return found === null ? null : (await factorsOf(app.db, found.person)).factors;
}

export async function giveUpSignIn(app: App, token: string | null): Promise<void> {
  const hash = token === null ? null : tokenHash(token);
  if (hash !== null) await deleteSignIn(app.db, hash);
}

interface Waiting {
  readonly hash: Buffer;
  readonly person: Person;
}

async function waitingFor(app: App, token: string | null): Promise<Waiting | null> {
  const hash = token === null ? null : tokenHash(token);
  const signIn = hash === null ? null : await findSignIn(app.db, hash, app.clock() - SIGN_IN_MS);
  if (hash === null || signIn === null || signIn.personId === null) return null;
  const person = await findPerson(app.db, signIn.personId);
  return person === null || person.deactivatedAt !== null ? null : { hash, person };
}

/** The second step with a one-time or recovery code. */
export async function confirmCode(
  parts: PeopleParts,
  client: Client,
  token: string | null,
  given: { readonly kind: 'totp' | 'recovery_code'; readonly code: string },
): Promise<SignInOutcome> {
  const { app } = parts;
  const waiting = await waitingFor(app, token);
  if (waiting === null) return { kind: 'over' };
  const { hash, person } = waiting;
  const all = await guessesOf(app, client, 'code', person.id, person.id);
  // Recovery codes of 120 bits cannot be guessed, so they need no limit by account, which strangers could use up.
  const guesses = given.kind === 'totp' ? all : all.filter(({ bucket }) => bucket !== 'code-account');
  const isRight = await judged(
    parts.limits,
    guesses,
    () => isRightCode(parts, app.db, person, given),
    Boolean,
    async (bucket) => (bucket === 'code-account' ? mailCodesUsedUp(app, person, client.ip) : undefined),
  );
  const report = (outcome: WrongGuess) =>
    reportGuess(parts, 'sign-in', outcome, { personId: person.id, ip: client.ip });
  if (typeof isRight === 'object') {
    report('too_many');
    return isRight;
  }
  if (!isRight) {
    report(given.kind === 'totp' ? 'wrong_code' : 'wrong_recovery_code');
    return { kind: 'wrong' };
  }
  return begin(app, person, client, given.kind, hash);
}

/** Whether a one-time or recovery code is right. A right code is used up. */
export async function isRightCode(
  { app, sealingKeys }: PeopleParts,
  db: Database,
  person: Person,
  { kind, code }: { readonly kind: 'totp' | 'recovery_code'; readonly code: string },
): Promise<boolean> {
  if (kind === 'totp') return checkTotp(db, await sealingKeys(), person, code, app.clock());
  const hash = recoveryCodeHash(code);
  return hash !== null && useRecoveryCode(db, person.id, hash, app.clock());
}

/**
 * The WebAuthn request for a sign-in: for its second step or, if no sign-in waits for one, for a whole sign-in by
 * passkey. Null if passkeys are not offered.
 */
export async function passkeyChallenge(
  { app, site }: PeopleParts,
  token: string | null,
): Promise<{ readonly options: object; readonly token: string | null } | null> {
  const host = passkeyHost(site);
  if (host === null) return null;
  const waiting = await waitingFor(app, token);
  if (waiting !== null) {
    const options = await requestOptions(host, await listPasskeys(app.db, waiting.person.id));
    await setSignInChallenge(app.db, waiting.hash, options.challenge);
    return { options, token: null };
  }
  const options = await requestOptions(host, []);
  const fresh = newToken(app.random);
  await insertSignIn(app.db, hashOf(fresh), { personId: null, challenge: options.challenge }, app.clock());
  return { options, token: fresh };
}

/** Signs in by a passkey. */
export async function confirmPasskey(
  parts: PeopleParts,
  client: Client,
  token: string | null,
  response: object,
): Promise<SignInOutcome> {
  const { app } = parts;
  const hash = token === null ? null : tokenHash(token);
  const signIn = hash === null ? null : await findSignIn(app.db, hash, app.clock() - SIGN_IN_MS);
  const challenge = signIn?.challenge ?? null;
  if (hash === null || signIn === null || challenge === null) return { kind: 'over' };
  // A challenge can be answered only once.
  await setSignInChallenge(app.db, hash, null);
  const { personId } = signIn;
  const person = await personByPasskey(parts, challenge, response, { personId, alone: personId === null });
  if (person !== null) {
    const credentialId = credentialIdOf(response);
    return begin(app, person, client, 'passkey', hash, async (trx) => {
      return credentialId !== null && (await findPasskey(trx, credentialId))?.personId === person.id;
    });
  }
  reportGuess(parts, 'sign-in', 'wrong_passkey', { personId, ip: client.ip });
  return { kind: 'wrong' };
}

/**
 * The person whose passkey signed the challenge; null if the response is invalid or the passkey is another person's.
 */
export async function personByPasskey(
  { app, site }: PeopleParts,
  challenge: string,
  response: object,
  wanted: { readonly personId: string | null; readonly alone: boolean },
): Promise<Person | null> {
  const host = passkeyHost(site);
  const credentialId = credentialIdOf(response);
  const passkey = credentialId === null ? null : await findPasskey(app.db, credentialId);
  if (host === null || passkey === null) return null;
  if (wanted.personId !== null && passkey.personId !== wanted.personId) return null;
  const counter = await checkAssertion(host, passkey, challenge, response, wanted);
  if (counter === null) return null;
  await usePasskey(app.db, passkey.id, counter, app.clock());
  const person = await findPerson(app.db, passkey.personId);
  return person === null || person.deactivatedAt !== null ? null : person;
}
