import { createHash } from 'node:crypto';
import { formatKey } from '../../domain/api-key.ts';
import { encodeId } from '../../domain/id.ts';
import type { KeyKind, Mode, Permission } from '../../domain/permission.ts';
import { insertKey, listKeys, lockKey, revokeKey, succeedKey, type StoredKey } from '../../store/api-keys.ts';
import { changesOfKeys, type AuditValues } from '../../store/audit.ts';
import type { Trx } from '../../store/database.ts';
import { keyClients, type KeyClient } from '../../store/key-clients.ts';
import { findProject } from '../../store/projects.ts';
import type { ActorKind } from '../../store/schema/people.ts';
import { isoTime } from '../../wire/time.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { checkName } from './name.ts';

/** Creates a key. Its text is returned here and nowhere else; only its hash is stored. */
export async function createKey(
  app: App,
  request: {
    readonly projectId: string;
    readonly mode: Mode;
    readonly kind: KeyKind;
    readonly permission: Permission;
    readonly name: string;
  },
): Promise<{ readonly kind: 'done'; readonly stored: StoredKey; readonly key: string } | Rejected> {
  const bad = checkName(request.name, '--name');
  if (bad !== null) return bad;
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, request.projectId)) === null) return noProject(request.projectId);
    return { kind: 'done', ...(await addKey(app, trx, request)) };
  });
}

/** `more` is for the audit log. */
async function addKey(
  app: App,
  trx: Trx,
  wanted: Pick<StoredKey, 'projectId' | 'mode' | 'kind' | 'permission' | 'name'>,
  more: AuditValues = {},
): Promise<{ readonly stored: StoredKey; readonly key: string }> {
  const now = app.clock();
  const key = formatKey(wanted.kind, wanted.mode, app.random(64));
  const stored: StoredKey = {
    id: newId(app, now),
    projectId: wanted.projectId,
    mode: wanted.mode,
    kind: wanted.kind,
    permission: wanted.permission,
    name: wanted.name.trim(),
    createdAt: now,
    revokedAt: null,
    lastUsedAt: null,
    endsAt: null,
    successorId: null,
  };
  await insertKey(trx, stored, createHash('sha256').update(key).digest());
  await recordAudit(app, trx, {
    action: 'key.create',
    projectId: stored.projectId,
    subject: { kind: 'key', id: encodeId('key', stored.id) },
    after: { mode: stored.mode, kind: stored.kind, permission: stored.permission, name: stored.name, ...more },
  });
  return { stored, key };
}

export async function keysOf(
  app: App,
  projectId: string,
): Promise<{ readonly kind: 'done'; readonly keys: readonly StoredKey[] } | Rejected> {
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  return { kind: 'done', keys: await listKeys(app.db, projectId) };
}

/** The project and mode that a key must be of; without it, any. */
type Within = Pick<StoredKey, 'projectId' | 'mode'>;

const NO_KEY: Rejected = { ...rejected('There is no such key. List them with: cointill key list'), of: 'key' };

async function lockedKey(trx: Trx, id: string, within: Within | null): Promise<StoredKey | null> {
  const key = await lockKey(trx, id);
  const isWithin = within === null || (key?.projectId === within.projectId && key.mode === within.mode);
  return isWithin ? key : null;
}

/** Revokes a key; every process refuses it within a second. `revokedAt`: since when it was revoked already. */
export async function removeKey(
  app: App,
  id: string,
  within: Within | null = null,
): Promise<{ readonly kind: 'done'; readonly revokedAt: number | null } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const key = await lockedKey(trx, id, within);
    if (key === null) return NO_KEY;
    if (key.revokedAt === null) {
      await revokeKey(trx, id, app.clock());
      await recordAudit(app, trx, {
        action: 'key.revoke',
        projectId: key.projectId,
        subject: { kind: 'key', id: encodeId('key', id) },
        before: { mode: key.mode, kind: key.kind, permission: key.permission, name: key.name },
      });
    }
    return { kind: 'done', revokedAt: key.revokedAt };
  });
}

/** How long both keys may work after one was rolled. */
export const MAX_OVERLAP_HOURS = 7 * 24;
const HOUR_MS = 60 * 60_000;

/**
 * Creates a key of the same name, kind and permission that takes the place of one, which works for `overlapHours` more,
 * from 0 to {@link MAX_OVERLAP_HOURS}. A key is rolled once.
 */
export async function rollKey(
  app: App,
  id: string,
  { overlapHours, within = null }: { readonly overlapHours: number; readonly within?: Within | null },
): Promise<
  { readonly kind: 'done'; readonly stored: StoredKey; readonly key: string; readonly endsAt: number } | Rejected
> {
  return app.db.transaction().execute(async (trx) => {
    const old = await lockedKey(trx, id, within);
    if (old === null) return NO_KEY;
    if (old.revokedAt !== null) return rejected(`This key was revoked at ${isoTime(old.revokedAt)}. Create a new one.`);
    if (old.endsAt !== null) {
      return rejected(
        `This key was rolled already and works until ${isoTime(old.endsAt)}. Roll the key that took its place, or create a new one.`,
      );
    }
    const { stored, key } = await addKey(app, trx, old, { replaces: encodeId('key', old.id) });
    const now = app.clock();
    const endsAt = now + overlapHours * HOUR_MS;
    await succeedKey(trx, id, stored.id, endsAt);
    // Processes of earlier versions, which run for a moment during an upgrade, know nothing of ends.
    if (overlapHours === 0) await revokeKey(trx, id, now);
    await recordAudit(app, trx, {
      action: 'key.roll',
      projectId: old.projectId,
      subject: { kind: 'key', id: encodeId('key', id) },
      before: { mode: old.mode, kind: old.kind, permission: old.permission, name: old.name },
      after: { ends_at: isoTime(endsAt), replaced_by: encodeId('key', stored.id) },
    });
    return { kind: 'done', stored, key, endsAt };
  });
}

/** Somebody who made, rolled or revoked a key, as the audit log names them. */
export interface KeyActor {
  readonly kind: ActorKind;
  readonly name: string;
}

/** A key with who made and who ended it, and where it was used from lately. */
export interface KeyDetails extends StoredKey {
  /** Null for keys from before there was an audit log. */
  readonly createdBy: KeyActor | null;
  /** Who revoked or rolled it. */
  readonly endedBy: KeyActor | null;
  /** Newest first. */
  readonly clients: readonly KeyClient[];
}

/** The keys of a project and mode, the newest first; those that ended more than a year ago are left out. */
export async function keyDetails(app: App, { projectId, mode }: Within): Promise<readonly KeyDetails[]> {
  const longAgo = app.clock() - ENDED_KEYS_SHOWN_MS;
  const keys = (await listKeys(app.db, projectId))
    .filter((key) => key.mode === mode && (key.revokedAt ?? Infinity) > longAgo && (key.endsAt ?? Infinity) > longAgo)
    .toReversed();
  const ids = keys.map(({ id }) => id);
  const [clients, changes] = await Promise.all([
    keyClients(app.db, ids),
    changesOfKeys(
      app.db,
      ids.map((id) => encodeId('key', id)),
    ),
  ]);
  return keys.map((key) => {
    const own = changes.filter(({ subject }) => subject.id === encodeId('key', key.id));
    const by = (...actions: readonly string[]): KeyActor | null => {
      const actor = own.findLast(({ action }) => actions.includes(action))?.actor;
      return actor === undefined ? null : { kind: actor.kind, name: actor.name };
    };
    return {
      ...key,
      createdBy: by('key.create'),
      endedBy: by('key.revoke') ?? by('key.roll'),
      clients: clients.filter(({ keyId }) => keyId === key.id),
    };
  });
}

const ENDED_KEYS_SHOWN_MS = 365 * 24 * HOUR_MS;
