import { Secret, TOTP } from 'otpauth';
import type { Person } from '../../store/people/people.ts';
import { takeTotpStep } from '../../store/people/people.ts';
import type { Database, Trx } from '../../store/database.ts';
import { openSecret, SealingKeyError, sealSecret, type SealingKeys } from '../../webhooks/secret.ts';

const ISSUER = 'Cointill';
const STEP_MS = 30_000;
/** The length of 160 bits that RFC 4226 (4, R6) recommends. */
export const TOTP_SECRET_BYTES = 20;
/** Codes of one step before and after are accepted, because clocks differ and typing takes time (RFC 6238, 5.2). */
const WINDOW = 1;

/** The context of a sealed secret binds it to its owner, so that it cannot be opened for anybody else. */
export const totpOwner = (personId: string): string => `totp of ${personId}`;

export function sealTotp(key: Uint8Array, personId: string, secret: string): Buffer {
  return sealSecret(key, secret, totpOwner(personId));
}

/** Opens a person's sealed secret. @throws Error that says what to do if the secret was sealed with another key */
export function openTotp(keys: SealingKeys, person: Person, sealed: Uint8Array): string {
  try {
    return openSecret(keys, sealed, totpOwner(person.id));
  } catch (cause) {
    throw new SealingKeyError(
      `The one-time codes of ${person.email} cannot be checked, because their secret was encrypted with a key that this process does not have. Restart it with the SECRET_KEY, or the secret.key in DATA_DIR, that the other processes have. If that key is lost, run the command user reset ${person.email}.`,
      { cause },
    );
  }
}

/** Whether one of these keys sealed the person's secret. */
export function opensTotp(keys: SealingKeys, person: Person): boolean {
  try {
    return person.sealedTotp !== null && openTotp(keys, person, person.sealedTotp) !== '';
  } catch {
    return false;
  }
}

/** Whether both rows hold the same secret, which a rotation of the key may have sealed anew. */
export function isSameTotp(keys: SealingKeys, one: Person, other: Person): boolean {
  if (one.sealedTotp === null || other.sealedTotp === null) return false;
  return openTotp(keys, one, one.sealedTotp) === openTotp(keys, other, other.sealedTotp);
}

export function newTotpSecret(bytes: Uint8Array): string {
  return new Secret({ buffer: Uint8Array.from(bytes).buffer }).base32;
}

/** The `otpauth:` URI for the QR code. */
export function totpUri(secret: string, email: string): string {
  return totpOf(secret, email).toString();
}

function totpOf(secret: string, label: string): TOTP {
  return new TOTP({ issuer: ISSUER, label, algorithm: 'SHA1', digits: 6, period: STEP_MS / 1000, secret });
}

/** The time step of a code; null if the code matches no step within the window. */
export function stepOf(secret: string, code: string, now: number): bigint | null {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return null;
  const delta = totpOf(secret, '').validate({ token, timestamp: now, window: WINDOW });
  return delta === null ? null : BigInt(Math.floor(now / STEP_MS) + delta);
}

/** The time step of a person's code; null if the code is wrong. Does not use up a right code. */
export function stepOfPerson(keys: SealingKeys, person: Person, code: string, now: number): bigint | null {
  return person.sealedTotp === null ? null : stepOf(openTotp(keys, person, person.sealedTotp), code, now);
}

/** Whether a code is right. A code is valid once: its step and all earlier ones are used up. */
export async function checkTotp(
  executor: Database | Trx,
  keys: SealingKeys,
  person: Person,
  code: string,
  now: number,
): Promise<boolean> {
  const step = stepOfPerson(keys, person, code, now);
  return step !== null && (await takeTotpStep(executor, person.id, step));
}
