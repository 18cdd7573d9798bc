import { createHash } from 'node:crypto';
import { formatKey } from '../../domain/api-key.ts';
import { encodeId } from '../../domain/id.ts';
import type { KeyKind, Mode, Permission } from '../../domain/permission.ts';
import { findKey, insertKey, listKeys, revokeKey, type StoredKey } from '../../store/api-keys.ts';
import { findProject } from '../../store/projects.ts';
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
  const now = app.clock();
  const key = formatKey(request.kind, request.mode, app.random(64));
  const hash = createHash('sha256').update(key).digest();
  const stored: StoredKey = {
    id: newId(app, now),
    projectId: request.projectId,
    mode: request.mode,
    kind: request.kind,
    permission: request.permission,
    name: request.name.trim(),
    createdAt: now,
    revokedAt: null,
  };
  return app.db.transaction().execute(async (trx) => {
    if ((await findProject(trx, request.projectId)) === null) return noProject(request.projectId);
    await insertKey(trx, stored, hash);
    await recordAudit(app, trx, {
      action: 'key.create',
      projectId: stored.projectId,
      subject: { kind: 'key', id: encodeId('key', stored.id) },
      after: { mode: stored.mode, kind: stored.kind, permission: stored.permission, name: stored.name },
    });
    return { kind: 'done', stored, key };
  });
}

export async function keysOf(
  app: App,
  projectId: string,
): Promise<{ readonly kind: 'done'; readonly keys: readonly StoredKey[] } | Rejected> {
  if ((await findProject(app.db, projectId)) === null) return noProject(projectId);
  return { kind: 'done', keys: await listKeys(app.db, projectId) };
}

/** Revokes a key; every process refuses it within a second. */
export async function removeKey(app: App, id: string): Promise<{ readonly kind: 'done' } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const key = await findKey(trx, id);
    if (key === null || !(await revokeKey(trx, id, app.clock()))) {
      return rejected('There is no such key. List them with: cointill key list');
    }
    if (key.revokedAt === null) {
      await recordAudit(app, trx, {
        action: 'key.revoke',
        projectId: key.projectId,
        subject: { kind: 'key', id: encodeId('key', id) },
        before: { mode: key.mode, kind: key.kind, permission: key.permission, name: key.name },
      });
    }
    return { kind: 'done' };
  });
}
