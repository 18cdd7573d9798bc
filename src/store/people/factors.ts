import { sql } from 'kysely';
import { ROLES, type Role } from '../../domain/role.ts';
import type { Database, Trx } from '../database.ts';
import { countRows, deleteRows, findRow, findRows, insertRows, updateRows, type Stored } from '../rows.ts';

/** A passkey as it was registered. */
export interface Passkey extends Omit<Stored<'passkeys'>, 'counter'> {
  readonly counter: number;
}

export async function listPasskeys(executor: Database | Trx, personId: string): Promise<readonly Passkey[]> {
  const rows = await findRows(executor, 'passkeys', { personId }, { order: ['id'] });
  return rows.map((row) => ({ ...row, counter: Number(row.counter) }));
}

export async function findPasskey(executor: Database | Trx, credentialId: string): Promise<Passkey | null> {
  const row = await findRow(executor, 'passkeys', { credentialId });
  return row && { ...row, counter: Number(row.counter) };
}

/** Saves a passkey; false if the credential is registered already. */
export async function insertPasskey(trx: Trx, passkey: Omit<Passkey, 'lastUsedAt'>): Promise<boolean> {
  const row = { ...passkey, counter: BigInt(passkey.counter), lastUsedAt: null };
  return (await insertRows(trx, 'passkeys', [row], { conflict: { by: ['credentialId'] } })) > 0;
}

export async function usePasskey(executor: Database | Trx, id: string, counter: number, now: number): Promise<void> {
  await updateRows(executor, 'passkeys', { id }, { counter: BigInt(counter), lastUsedAt: now });
}

export async function deletePasskey(trx: Trx, personId: string, id: string): Promise<boolean> {
  return (await deleteRows(trx, 'passkeys', { id, personId })) > 0;
}

export async function deletePasskeys(trx: Trx, personId: string): Promise<void> {
  await deleteRows(trx, 'passkeys', { personId });
}

/** Replaces all of a person's codes; an empty list only deletes them. */
export async function replaceRecoveryCodes(trx: Trx, personId: string, hashes: readonly Buffer[]): Promise<void> {
  await deleteRows(trx, 'recovery_codes', { personId });
  const rows = hashes.map((codeHash) => ({ personId, codeHash, usedAt: null }));
  await insertRows(trx, 'recovery_codes', rows);
}

/** How many unused codes a person has. */
export async function countRecoveryCodes(executor: Database | Trx, personId: string): Promise<number> {
  return countRows(executor, 'recovery_codes', { personId, usedAt: null });
}

/** Uses up a code; false if it is wrong or was used before. */
export async function useRecoveryCode(
  executor: Database | Trx,
  personId: string,
  hash: Buffer,
  now: number,
): Promise<boolean> {
  const open = { personId, codeHash: hash, usedAt: null };
  return (await updateRows(executor, 'recovery_codes', open, { usedAt: now })) > 0;
}

/** The roles whose holders must have a second factor, in the order of all roles. */
export async function rolesWithFactor(executor: Database | Trx): Promise<readonly Role[]> {
  const rows = await findRows(executor, 'required_factors', {});
  return ROLES.filter((one) => rows.some(({ role }) => role === one));
}

export async function setRolesWithFactor(trx: Trx, roles: readonly Role[]): Promise<void> {
  await deleteRows(trx, 'required_factors', {});
  const rows = roles.map((role) => ({ role }));
  await insertRows(trx, 'required_factors', rows);
}

/** Whether one of the person's roles requires a second factor. */
export async function requiresFactor(executor: Database | Trx, personId: string): Promise<boolean> {
  const { rows } = await sql`select where ${isRequired(personId)}`.execute(executor);
  return rows.length > 0;
}

/** Whether one of the person's roles requires a second factor and the person has none. */
export async function lacksFactor(executor: Database | Trx, personId: string): Promise<boolean> {
  const { rows } = await sql`
    select where ${isRequired(personId)}
      and exists (select from people where id = ${personId} and totp_secret is null)
      and not exists (select from passkeys where person_id = ${personId})`.execute(executor);
  return rows.length > 0;
}

const isRequired = (personId: string) => sql<boolean>`
  exists (select from memberships m join required_factors r on r.role = m.role where m.person_id = ${personId})`;
