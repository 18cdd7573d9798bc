import { hash as digest } from 'node:crypto';
import { sql, type Selectable } from 'kysely';
import type { KeyGrant, Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';
import { notify } from '../notifications.ts';
import type { NewRow, Tables } from '../tables.ts';

/** A key as it can be shown: never its text, of which only the hash is stored. */
export interface StoredKey extends KeyGrant {
  readonly id: string;
  readonly projectId: string;
  readonly mode: Mode;
  readonly name: string;
  readonly createdAt: number;
  readonly revokedAt: number | null;
  /** To the minute; null: never. */
  readonly lastUsedAt: number | null;
  /** When it stops working, or did, because another took its place; null: nothing took it. */
  readonly endsAt: number | null;
  /** The key that took its place. */
  readonly successorId: string | null;
}

/** All that is shown of a key: its hash is left out. */
const KEY_COLUMNS = [
  'id',
  'project_id',
  'mode',
  'kind',
  'permission',
  'name',
  'created_at',
  'revoked_at',
  'last_used_at',
  'ends_at',
  'successor_id',
  'scopes',
] as const;

function keyFromRow(row: Pick<Selectable<Tables['api_keys']>, (typeof KEY_COLUMNS)[number]>): StoredKey {
  return {
    id: row.id,
    projectId: row.project_id,
    mode: row.mode,
    kind: row.kind,
    permission: row.scopes === null ? row.permission : null,
    scopes: row.scopes,
    name: row.name,
    createdAt: row.created_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.last_used_at,
    endsAt: row.ends_at,
    successorId: row.successor_id,
  };
}

/** How a key with scopes is stored: no process of a version without scopes finds it, which would give it more. */
function scopedHash(hash: Buffer): Buffer {
  return digest('sha256', hash, 'buffer');
}

/** The unrevoked key with this SHA-256 and its project. */
export async function findKeyByHash(db: Database, hash: Buffer) {
  const row = await db
    .selectFrom('api_keys as k')
    .innerJoin('projects as p', 'p.id', 'k.project_id')
    .select(['k.id', 'k.mode', 'k.kind', 'k.permission', 'k.scopes', 'k.ends_at'])
    .select(['p.id as project_id', 'p.name', 'p.active', 'p.allow_ips', 'p.allow_origins'])
    .select(['p.default_expiry_minutes', 'p.default_success_url'])
    .where('k.hash', 'in', [hash, scopedHash(hash)])
    .where('k.revoked_at', 'is', null)
    .executeTakeFirst();
  if (row === undefined) return null;
  return {
    id: row.id,
    mode: row.mode,
    kind: row.kind,
    permission: row.scopes === null ? row.permission : null,
    scopes: row.scopes,
    endsAt: row.ends_at,
    project: {
      id: row.project_id,
      name: row.name,
      active: row.active,
      allowIps: row.allow_ips,
      allowOrigins: row.allow_origins,
      defaultExpiryMinutes: row.default_expiry_minutes,
      defaultSuccessUrl: row.default_success_url,
    },
  };
}

/** Inserts a key; `hash` is the SHA-256 of its text. */
export async function insertKey(trx: Trx, key: StoredKey, hash: Buffer): Promise<void> {
  await trx
    .insertInto('api_keys')
    .values({
      id: key.id,
      project_id: key.projectId,
      mode: key.mode,
      kind: key.kind,
      permission: key.permission ?? 'read',
      scopes: key.scopes === null ? null : [...key.scopes],
      name: key.name,
      hash: key.scopes === null ? hash : scopedHash(hash),
      created_at: new Date(key.createdAt),
    } satisfies NewRow<'api_keys', 'revoked_at' | 'last_used_at' | 'ends_at' | 'successor_id'>)
    .execute();
}

/** The project's keys, oldest first. */
export async function listKeys(db: Database, projectId: string): Promise<readonly StoredKey[]> {
  const rows = await db
    .selectFrom('api_keys')
    .select(KEY_COLUMNS)
    .where('project_id', '=', projectId)
    .orderBy('created_at')
    .orderBy('id')
    .execute();
  return rows.map(keyFromRow);
}

/**
 * A key by its id, revoked or not, locked until the transaction ends: of two people who roll or revoke it, the second
 * sees what the first did.
 */
export async function lockKey(trx: Trx, id: string): Promise<StoredKey | null> {
  const row = await trx.selectFrom('api_keys').select(KEY_COLUMNS).where('id', '=', id).forUpdate().executeTakeFirst();
  return row === undefined ? null : keyFromRow(row);
}

/** Puts another key in the place of one, which works until `endsAt`. Notifies every process. */
export async function succeedKey(trx: Trx, id: string, successorId: string, endsAt: number): Promise<void> {
  await trx
    .updateTable('api_keys')
    .set({ ends_at: new Date(endsAt), successor_id: successorId })
    .where('id', '=', id)
    .execute();
  await notify(trx, 'access');
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
  await notify(trx, 'access');
  return row !== undefined;
}
