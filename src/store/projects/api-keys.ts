import { hash as digest } from 'node:crypto';
import { sql } from 'kysely';
import type { KeyGrant } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';
import { notifyAccess } from '../notifications.ts';
import { findRow, findRows, insertRows, updateRows, type Stored } from '../rows.ts';

type Row = Omit<Stored<'api_keys'>, 'hash'>;

/** A key as it can be shown: without its text, of which only the hash is stored. */
export interface StoredKey extends KeyGrant, Omit<Row, keyof KeyGrant> {}

const KEY = { without: ['hash'] } as const;

function keyFromRow(row: Row): StoredKey {
  return { ...row, permission: row.scopes === null ? row.permission : null };
}

/**
 * The stored hash of a key with scopes differs, so that a process of a version without scopes does not find the key,
 * which would grant more there.
 */
function scopedHash(hash: Buffer): Buffer {
  return digest('sha256', hash, 'buffer');
}

/** The unrevoked key with this SHA-256 and its project. */
export async function findKeyByHash(db: Database, hash: Buffer) {
  const row = await db
    .selectFrom('api_keys as k')
    .innerJoin('projects as p', 'p.id', 'k.project_id')
    .select(['k.id', 'k.mode', 'k.kind', 'k.permission', 'k.scopes', 'k.ends_at as endsAt'])
    .select(['p.id as projectId', 'p.name', 'p.active', 'p.allow_ips as allowIps', 'p.allow_origins as allowOrigins'])
    .select(['p.default_expiry_minutes as defaultExpiryMinutes', 'p.default_success_url as defaultSuccessUrl'])
    .where('k.hash', 'in', [hash, scopedHash(hash)])
    .where('k.revoked_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  const { id, mode, kind, permission, scopes, endsAt, projectId, ...project } = row;
  const grant = { kind, permission: scopes === null ? permission : null, scopes };
  return { id, mode, ...grant, endsAt, project: { ...project, id: projectId } };
}

/** Inserts a key; `hash` is the SHA-256 of its text. */
export async function insertKey(trx: Trx, key: StoredKey, hash: Buffer): Promise<void> {
  const permission = key.permission ?? 'read';
  await insertRows(trx, 'api_keys', [{ ...key, permission, hash: key.scopes === null ? hash : scopedHash(hash) }]);
}

/** The project's keys, oldest first. */
export async function listKeys(db: Database, projectId: string): Promise<readonly StoredKey[]> {
  return (await findRows(db, 'api_keys', { projectId }, { ...KEY, order: ['createdAt', 'id'] })).map(keyFromRow);
}

/** The keys of a project, or of all of them, that nobody revoked, oldest first. */
export async function listUnrevoked(db: Database, projectId: string | null): Promise<readonly StoredKey[]> {
  const where = { revokedAt: null, ...(projectId === null ? {} : { projectId }) };
  return (await findRows(db, 'api_keys', where, { ...KEY, order: ['createdAt', 'id'] })).map(keyFromRow);
}

/**
 * A key by its id, revoked or not, locked until the transaction ends: the second of two people who roll or revoke it
 * sees the first one's change.
 */
export async function lockKey(trx: Trx, id: string): Promise<StoredKey | null> {
  const row = await findRow(trx, 'api_keys', { id }, { ...KEY, isLocked: true });
  return row && keyFromRow(row);
}

/** Records the key that replaces another, which works until `endsAt`. Notifies every process. */
export async function succeedKey(trx: Trx, id: string, successorId: string, endsAt: number): Promise<void> {
  await updateRows(trx, 'api_keys', { id }, { endsAt, successorId });
  await notifyAccess(trx);
}

/**
 * Revokes a key and notifies every process; false if there is no such key. A key that was already revoked stays as it
 * was.
 */
export async function revokeKey(trx: Trx, id: string, now: number): Promise<boolean> {
  const row = await trx
    .updateTable('api_keys')
    .set({ revoked_at: sql`coalesce(revoked_at, ${new Date(now)})` })
    .where('id', '=', id)
    .returning('id')
    .executeTakeFirst();
  await notifyAccess(trx);
  return row !== undefined;
}
