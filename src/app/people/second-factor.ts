import type { Trx } from '../../store/database.ts';
import {
  countRecoveryCodes,
  deletePasskey,
  insertPasskey,
  listPasskeys,
  replaceRecoveryCodes,
  requiresFactor,
  type Passkey,
} from '../../store/people/factors.ts';
import { lockPerson, takeTotpStep, updatePerson, type Person } from '../../store/people/people.ts';
import { listSessions, setChallenge, takeChallenge } from '../../store/people/sessions.ts';
import { newId, type App } from '../context.ts';
import { keyThatSeals } from '../sealing-key.ts';
import { checkName } from '../projects/name.ts';
import { rejected, type Rejected } from '../rejected.ts';
import { auditOfPerson, ENDED, reportReauthentication, tooManyReauthentications } from './account.ts';
import { mailAccountChange } from './account-mail.ts';
import { judged, type TooMany } from './guess-limits.ts';
import type { PeopleParts } from './parts.ts';
import { CHALLENGE_MS, checkRegistration, passkeyHost, registrationOptions } from './passkeys.ts';
import { newRecoveryCodes, recoveryCodeHash } from './recovery-codes.ts';
import { endOthers, type InBrowser, type SignedIn } from './sessions.ts';
import { newTotpSecret, openTotp, sealTotp, stepOf, TOTP_SECRET_BYTES, totpUri } from './totp.ts';

/** Second factors of people's own accounts. Adding or removing one ends the person's other sessions. */

/** Creates a TOTP secret, which takes effect when a code of it is confirmed. */
export async function startTotp(
  { app, sealingKeys }: PeopleParts,
  { person }: SignedIn,
): Promise<{ readonly secret: string; readonly uri: string }> {
  const secret = newTotpSecret(app.random(TOTP_SECRET_BYTES));
  const keys = await sealingKeys();
  await app.db.transaction().execute(async (trx) => {
    const sealedPendingTotp = sealTotp(await keyThatSeals(trx, keys), person.id, secret);
    await updatePerson(trx, person.id, { sealedPendingTotp });
  });
  return { secret, uri: totpUri(secret, person.email) };
}

/** `recoveryCodes` is null if the person has some already. */
interface Confirmed {
  readonly kind: 'done';
  readonly recoveryCodes: readonly string[] | null;
}

const wrongCode = rejected('wrong_code', { param: 'code' });

/** Activates the new secret, given a code of it. */
export async function confirmTotp(
  parts: PeopleParts,
  signedIn: InBrowser,
  code: string,
): Promise<Confirmed | Rejected | TooMany> {
  const { app, limits, sealingKeys } = parts;
  const { person, session } = signedIn;
  const guess = [{ bucket: 'reauthentication-session', id: session.id } as const];
  const confirm = async (): Promise<Confirmed | Rejected> => {
    const keys = await sealingKeys();
    return app.db.transaction().execute(async (trx) => {
      const now = await lockPerson(trx, person.id);
      const sealed = now?.sealedPendingTotp ?? null;
      if (now === null || sealed === null) return rejected('no_new_secret');
      const step = stepOf(openTotp(keys, now, sealed), code, app.clock());
      if (step === null) return wrongCode;
      await updatePerson(trx, person.id, { sealedTotp: sealed, sealedPendingTotp: null });
      await takeTotpStep(trx, person.id, step);
      await endOthers(trx, signedIn);
      await auditOfPerson(app, trx, 'totp.add', person);
      await mailAccountChange(app, trx, person, 'totp_added');
      return { kind: 'done', recoveryCodes: await firstRecoveryCodes(app, trx, person) };
    });
  };
  const outcome = await judged(limits, guess, confirm, (result) => result !== wrongCode);
  if (outcome === wrongCode) reportReauthentication(parts, signedIn, 'wrong_code');
  return outcome.kind === 'too_many' ? tooManyReauthentications(parts, signedIn, outcome) : outcome;
}

/** `none`: there was no such factor. */
type Removed = { readonly kind: 'done' | 'none' } | Rejected;

/** Removes the person's TOTP secret. Refused if it is the last factor and a role requires one. */
export function removeTotp(app: App, signedIn: InBrowser): Promise<Removed> {
  const { person } = signedIn;
  return app.db.transaction().execute(async (trx) => {
    const now = await lockPerson(trx, person.id);
    if (now === null || now.sealedTotp === null) return { kind: 'none' };
    const isLast = (await listPasskeys(trx, person.id)).length === 0;
    if (isLast && (await requiresFactor(trx, person.id))) return rejected('last_factor');
    await updatePerson(trx, person.id, { sealedTotp: null, sealedPendingTotp: null });
    await dropUselessCodes(trx, person);
    await endOthers(trx, signedIn);
    await auditOfPerson(app, trx, 'totp.remove', person);
    await mailAccountChange(app, trx, person, 'totp_removed');
    return { kind: 'done' };
  });
}

/** The options with which a browser creates a passkey; null if passkeys are not offered. */
export async function newPasskeyOptions(
  { app, site }: PeopleParts,
  { session, person }: SignedIn,
): Promise<object | null> {
  const host = passkeyHost(site);
  if (host === null) return null;
  const options = await registrationOptions(host, person, await listPasskeys(app.db, person.id));
  await setChallenge(app.db, session.id, { text: options.challenge, use: 'add', until: app.clock() + CHALLENGE_MS });
  return options;
}

export async function addPasskey(
  { app, site }: PeopleParts,
  signedIn: InBrowser,
  given: { readonly name: string; readonly response: object },
): Promise<
  { readonly kind: 'done'; readonly passkey: Passkey; readonly recoveryCodes: readonly string[] | null } | Rejected
> {
  const { person, session } = signedIn;
  const badName = checkName(given.name);
  // The challenge stays valid for another try.
  if (badName !== null) return badName;
  const host = passkeyHost(site);
  const challenge = await takeChallenge(app.db, session.id, 'add', app.clock());
  const made = host === null || challenge === null ? null : await checkRegistration(host, challenge, given.response);
  if (made === null) return rejected('passkey_unusable', { param: 'response' });
  const now = app.clock();
  const passkey = { id: newId(app, now), personId: person.id, name: given.name.trim(), createdAt: now, ...made };
  return app.db.transaction().execute(async (trx) => {
    await lockPerson(trx, person.id);
    // A reset or another factor may have ended the session meanwhile.
    if (!(await listSessions(trx, person.id)).some(({ id }) => id === session.id)) return ENDED;
    if (!(await insertPasskey(trx, passkey))) return rejected('passkey_known', { param: 'response' });
    await endOthers(trx, signedIn);
    await auditOfPerson(app, trx, 'passkey.add', person, { name: passkey.name });
    await mailAccountChange(app, trx, person, 'passkey_added', passkey.name);
    const recoveryCodes = await firstRecoveryCodes(app, trx, person);
    return { kind: 'done', passkey: { ...passkey, lastUsedAt: null }, recoveryCodes };
  });
}

/** Removes a passkey. Refused if it is the last factor and a role requires one. */
export function removePasskey(app: App, signedIn: InBrowser, id: string): Promise<Removed> {
  const { person } = signedIn;
  return app.db.transaction().execute(async (trx) => {
    const now = await lockPerson(trx, person.id);
    const passkeys = await listPasskeys(trx, person.id);
    const passkey = passkeys.find((one) => one.id === id);
    if (now === null || passkey === undefined) return { kind: 'none' };
    const isLast = now.sealedTotp === null && passkeys.length === 1;
    if (isLast && (await requiresFactor(trx, person.id))) return rejected('last_factor');
    await deletePasskey(trx, person.id, id);
    await dropUselessCodes(trx, person);
    await endOthers(trx, signedIn);
    await auditOfPerson(app, trx, 'passkey.remove', person, { name: passkey.name });
    await mailAccountChange(app, trx, person, 'passkey_removed', passkey.name);
    return { kind: 'done' };
  });
}

/** Replaces the recovery codes by ten new ones. Refused if the person has no second factor that they could replace. */
export function renewRecoveryCodes(
  app: App,
  { person }: SignedIn,
): Promise<{ readonly kind: 'done'; readonly codes: readonly string[] } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    if (!(await hasSecondFactor(trx, person.id))) {
      return rejected('no_factor_to_replace');
    }
    const codes = await makeRecoveryCodes(app, trx, person);
    await mailAccountChange(app, trx, person, 'recovery_codes');
    return { kind: 'done', codes };
  });
}

async function firstRecoveryCodes(app: App, trx: Trx, person: Person): Promise<readonly string[] | null> {
  return (await countRecoveryCodes(trx, person.id)) > 0 ? null : makeRecoveryCodes(app, trx, person);
}

async function makeRecoveryCodes(app: App, trx: Trx, person: Person): Promise<readonly string[]> {
  const codes = newRecoveryCodes(app.random);
  await replaceRecoveryCodes(
    trx,
    person.id,
    codes.flatMap((code) => recoveryCodeHash(code) ?? []),
  );
  await auditOfPerson(app, trx, 'recovery_codes.make', person);
  return codes;
}

/** Deletes the recovery codes with the last second factor. */
async function dropUselessCodes(trx: Trx, person: Person): Promise<void> {
  if (!(await hasSecondFactor(trx, person.id))) await replaceRecoveryCodes(trx, person.id, []);
}

async function hasSecondFactor(trx: Trx, personId: string): Promise<boolean> {
  const person = await lockPerson(trx, personId);
  return (person?.sealedTotp ?? null) !== null || (await listPasskeys(trx, personId)).length > 0;
}
