import type { Database, Trx } from '../../store/database.ts';
import { listPasskeys, type Passkey } from '../../store/people/factors.ts';
import { lockPerson, type Person } from '../../store/people/people.ts';
import { deleteSignIn, insertSignIn } from '../../store/people/sessions.ts';
import type { SealingKeys } from '../../webhooks/secret.ts';
import { forActor, type App } from '../context.ts';
import { mailAccountChange } from './account-mail.ts';
import type { Client, TooMany } from './guess-limits.ts';
import { actorOf, startSession, type Started } from './sessions.ts';
import { hashOf, newToken } from './token.ts';
import { isSameTotp } from './totp.ts';

export type Factor = 'totp' | 'passkey' | 'recovery_code';

export type SignInOutcome =
  | { readonly kind: 'signed_in'; readonly started: Started }
  /** The password was right; `token` is for the cookie of the second step. */
  | { readonly kind: 'second_factor'; readonly token: string; readonly factors: readonly Factor[] }
  | { readonly kind: 'wrong' }
  /** The sign-in expired, was completed or was abandoned. */
  | { readonly kind: 'over' }
  | TooMany;

/** A person's second factors. Recovery codes are a factor only beside another one. */
export async function factorsOf(
  executor: Database | Trx,
  { id, sealedTotp }: Person,
): Promise<{ readonly factors: readonly Factor[]; readonly passkeys: readonly Passkey[] }> {
  const passkeys = await listPasskeys(executor, id);
  const totp = sealedTotp === null ? [] : (['totp'] as const);
  const own: readonly Factor[] = passkeys.length === 0 ? totp : [...totp, 'passkey'];
  return { factors: own.length === 0 ? [] : [...own, 'recovery_code'], passkeys };
}

/**
 * Starts the session, or the second step, after a right password. `wrong` if the stored hash is another one by now.
 * `codes`: the keys, if a code was right too.
 */
export async function enter(
  app: App,
  active: Person,
  client: Client,
  { passwordHash, codes }: { readonly passwordHash: string | null; readonly codes: SealingKeys | null },
): Promise<SignInOutcome> {
  if (codes !== null) {
    const isEnough = async (_: Trx, now: Person) => now.passwordHash === passwordHash && isSameTotp(codes, now, active);
    return begin(app, active, client, 'totp', null, isEnough);
  }
  const { factors } = await factorsOf(app.db, active);
  if (factors.length === 0) {
    const isEnough = async (trx: Trx, now: Person) =>
      now.passwordHash === passwordHash && (await factorsOf(trx, now)).factors.length === 0;
    return begin(app, active, client, 'password', null, isEnough);
  }
  const token = newToken(app.random);
  return app.db.transaction().execute(async (trx) => {
    const now = await lockPerson(trx, active.id);
    if (now === null || now.deactivatedAt !== null || now.passwordHash !== passwordHash) return { kind: 'wrong' };
    await insertSignIn(trx, hashOf(token), { personId: active.id, challenge: null }, app.clock());
    return { kind: 'second_factor', token, factors };
  });
}

/**
 * Starts the session. `waiting` is the sign-in that the session completes; of two concurrent second steps only one
 * does. `isStillEnough` tells under the person's lock whether what was proven lets them in: a reset, another password
 * or a new factor may have come meanwhile. Sign-ins that wait for a second step end with those.
 */
export async function begin(
  app: App,
  { id }: Person,
  client: Client,
  way: string,
  waiting: Buffer | null,
  isStillEnough: (trx: Trx, person: Person) => Promise<boolean> = async () => true,
): Promise<SignInOutcome> {
  return app.db.transaction().execute(async (trx) => {
    // The lock keeps a session from outliving a concurrent deactivation or end of all sessions. They too lock it first.
    const person = await lockPerson(trx, id);
    if (waiting !== null && !(await deleteSignIn(trx, waiting))) return { kind: 'over' };
    if (person === null || person.deactivatedAt !== null || !(await isStillEnough(trx, person))) {
      return { kind: 'wrong' };
    }
    const started = await startSession(app, trx, person, client, way);
    if (started.browserToken !== null) {
      const own = forActor(app, actorOf(person, client.ip));
      await mailAccountChange(own, trx, person, 'new_browser', started.session.userAgent);
    }
    return { kind: 'signed_in', started };
  });
}
