import type { Database, Trx } from '../database.ts';
import { fields, toRow, type Stored } from '../rows.ts';

/** A passkey as it was registered. */
export interface Passkey extends Omit<Stored<'passkeys'>, 'counter'> {
  readonly counter: number;
}

export async function listPasskeys(executor: Database | Trx, personId: string): Promise<readonly Passkey[]> {
  const rows = await executor
    .selectFrom('passkeys')
    .select(fields('passkeys'))
    .where('person_id', '=', personId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ ...row, counter: Number(row.counter) }));
}

export async function findPasskey(executor: Database | Trx, credentialId: string): Promise<Passkey | null> {
  const row = await executor
    .selectFrom('passkeys')
    .select(fields('passkeys'))
    .where('credential_id', '=', credentialId)
    .executeTakeFirst();
  return row === undefined ? null : { ...row, counter: Number(row.counter) };
}

/** Saves a passkey; false if the credential is registered already. */
export async function insertPasskey(trx: Trx, passkey: Omit<Passkey, 'lastUsedAt'>): Promise<boolean> {
  const row = await trx
    .insertInto('passkeys')
    .values(toRow('passkeys', { ...passkey, counter: BigInt(passkey.counter), lastUsedAt: null }))
    .onConflict((conflict) => conflict.column('credential_id').doNothing())
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

export async function usePasskey(executor: Database | Trx, id: string, counter: number, now: number): Promise<void> {
  await executor
    .updateTable('passkeys')
    .set({ counter: String(counter), last_used_at: new Date(now) })
    .where('id', '=', id)
    .execute();
}

export async function deletePasskey(trx: Trx, personId: string, id: string): Promise<boolean> {
  const { numDeletedRows } = await trx
    .deleteFrom('passkeys')
    .where('id', '=', id)
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

export async function deletePasskeys(trx: Trx, personId: string): Promise<void> {
  await trx.deleteFrom('passkeys').where('person_id', '=', personId).execute();
}

/** Replaces all of a person's codes; an empty list only deletes them. */
export async function replaceRecoveryCodes(trx: Trx, personId: string, hashes: readonly Buffer[]): Promise<void> {
  await trx.deleteFrom('recovery_codes').where('person_id', '=', personId).execute();
  if (hashes.length === 0) return;
  const rows = hashes.map((hash) => ({ person_id: personId, code_hash: hash }));
  await trx.insertInto('recovery_codes').values(rows).execute();
}

/** How many unused codes a person has. */
export async function countRecoveryCodes(executor: Database | Trx, personId: string): Promise<number> {
  const { left } = await executor
    .selectFrom('recovery_codes')
    .select(({ fn }) => fn.countAll<bigint>().as('left'))
    .where('person_id', '=', personId)
    .where('used_at', 'is', null)
    .executeTakeFirstOrThrow();
  return Number(left);
}

/** Uses up a code; false if it is wrong or was used before. */
export async function useRecoveryCode(
  executor: Database | Trx,
  personId: string,
  hash: Buffer,
  now: number,
): Promise<boolean> {
  const row = await executor
    .updateTable('recovery_codes')
    .set({ used_at: new Date(now) })
    .where('person_id', '=', personId)
    .where('code_hash', '=', hash)
    .where('used_at', 'is', null)
    .returning('person_id')
    .executeTakeFirst();
  return row !== undefined;
}
