import { createHash } from 'node:crypto';
import { formatKey } from '../../domain/api-key.ts';
import { encodeId } from '../../domain/id.ts';
import { PUBLIC_SCOPES, type KeyGrant, type Mode, type Scope } from '../../domain/permission.ts';
import { beyondRole, keyRefusalOf, roleIn, type Role } from '../../domain/role.ts';
import {
  insertKey,
  listKeys,
  listUnrevoked,
  lockKey,
  revokeKey,
  succeedKey,
  type StoredKey,
} from '../../store/projects/api-keys.ts';
import { changesOfKeys, type AuditValues } from '../../store/people/audit.ts';
import type { Trx } from '../../store/database.ts';
import { insertRows } from '../../store/rows.ts';
import { keyClients, type KeyClient } from '../../store/projects/key-clients.ts';
import { listMembers, namesOfPeople } from '../../store/people/people.ts';
import { findProject } from '../../store/projects/projects.ts';
import type { ActorKind } from '../../store/schema/people.ts';
import { isoTime } from '../../wire/time.ts';
import { recordAudit } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { answerRow, inTransactionOnce, type IdempotencyRequest, type Replay } from '../idempotency.ts';
import { noProject, rejected, type Rejected } from '../rejected.ts';
import { checkName } from './name.ts';

interface NewKey extends Omit<KeyGrant, 'scopes'> {
  readonly projectId: string;
  readonly mode: Mode;
  /** Scopes in place of a permission. */
  readonly scopes?: readonly Scope[] | null;
  readonly name: string;
  /** The role of the person who makes the key, which limits live keys. Absent: the command line may do everything. */
  readonly maker?: Role | null;
}

type CreatedKey = { readonly kind: 'done'; readonly stored: StoredKey; readonly key: string } | Rejected;

/** Creates a key. Only this call returns its text; the database stores its hash. */
export function createKey(app: App, request: NewKey): Promise<CreatedKey> {
  return app.db.transaction().execute((trx) => createKeyIn(app, trx, request));
}

/** The same for a form that may be sent twice and makes one key. `replayed`: only its first answer had the text. */
export function createKeyOnce(
  app: App,
  request: NewKey,
  idempotency: IdempotencyRequest,
): Promise<CreatedKey | Replay> {
  return inTransactionOnce(app, idempotency, async (trx) => {
    const outcome = await createKeyIn(app, trx, request);
    if (outcome.kind === 'done') await insertRows(trx, 'idempotency_keys', [answerRow(idempotency, '{}', app.clock())]);
    return outcome;
  });
}

async function createKeyIn(app: App, trx: Trx, { maker, scopes = null, ...request }: NewKey): Promise<CreatedKey> {
  const wanted = { ...request, scopes: scopes === null ? null : [...new Set(scopes)] };
  const bad = checkName(wanted.name) ?? checkGrant(wanted) ?? checkMaker(maker, wanted);
  if (bad !== null) return bad;
  if ((await findProject(trx, wanted.projectId)) === null) return noProject(wanted.projectId);
  return { kind: 'done', ...(await addKey(app, trx, wanted)) };
}

function checkGrant({ kind, permission, scopes }: KeyGrant): Rejected | null {
  if ((permission === null) !== (scopes !== null && scopes.length > 0)) {
    return rejected('key_grant', { param: 'scopes' });
  }
  const other = kind === 'public' ? scopes?.find((scope) => !PUBLIC_SCOPES.includes(scope)) : undefined;
  return other === undefined
    ? null
    : rejected('public_scope', { param: 'scopes', scope: other, scopes: PUBLIC_SCOPES.join(' and ') });
}

function checkMaker(maker: Role | null | undefined, key: KeyGrant & { readonly mode: Mode }): Rejected | null {
  const action = maker === undefined ? null : beyondRole(maker, key);
  return action === null ? null : rejected('beyond_role', keyRefusalOf(maker ?? null, action));
}

/** The permissions of a key, for the audit log. */
function grantValues({ permission, scopes }: KeyGrant): AuditValues {
  return scopes === null ? { permission } : { scopes };
}

/** Adds a key. `more` is for the audit log. */
async function addKey(
  app: App,
  trx: Trx,
  wanted: Pick<StoredKey, 'projectId' | 'mode' | 'kind' | 'permission' | 'scopes' | 'name'>,
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
    scopes: wanted.scopes,
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
    after: { mode: stored.mode, kind: stored.kind, ...grantValues(stored), name: stored.name, ...more },
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

/** The project and mode that the key must belong to; absent: any. */
type Within = Pick<StoredKey, 'projectId' | 'mode'>;

async function lockedKey(trx: Trx, id: string, within: Within | null): Promise<StoredKey | null> {
  const key = await lockKey(trx, id);
  const isWithin = within === null || (key?.projectId === within.projectId && key.mode === within.mode);
  return isWithin ? key : null;
}

/** Revokes a key; every process refuses it within a second. `revokedAt` is the time of an earlier revocation. */
export async function removeKey(
  app: App,
  id: string,
  within: Within | null = null,
): Promise<{ readonly kind: 'done'; readonly revokedAt: number | null } | Rejected> {
  return app.db.transaction().execute(async (trx) => {
    const key = await lockedKey(trx, id, within);
    if (key === null) return rejected('no_key');
    if (key.revokedAt === null) {
      await revokeKey(trx, id, app.clock());
      await recordAudit(app, trx, {
        action: 'key.revoke',
        projectId: key.projectId,
        subject: { kind: 'key', id: encodeId('key', id) },
        before: { mode: key.mode, kind: key.kind, ...grantValues(key), name: key.name },
      });
    }
    return { kind: 'done', revokedAt: key.revokedAt };
  });
}

/** How long both keys may work after one was rolled. */
export const MAX_OVERLAP_HOURS = 7 * 24;
const HOUR_MS = 60 * 60_000;

/**
 * Creates a key of the same name, kind and permission that replaces this one, which works for `overlapHours` more, from
 * 0 to {@link MAX_OVERLAP_HOURS}. A key can be rolled once; `maker` as for a new key.
 */
export async function rollKey(
  app: App,
  id: string,
  {
    overlapHours,
    within = null,
    maker,
  }: { readonly overlapHours: number; readonly within?: Within | null; readonly maker?: Role | null },
): Promise<
  { readonly kind: 'done'; readonly stored: StoredKey; readonly key: string; readonly endsAt: number } | Rejected
> {
  return app.db.transaction().execute(async (trx) => {
    const old = await lockedKey(trx, id, within);
    if (old === null) return rejected('no_key');
    if (old.revokedAt !== null) return rejected('key_revoked', { at: isoTime(old.revokedAt) });
    if (old.endsAt !== null) return rejected('key_rolled', { at: isoTime(old.endsAt) });
    const bad = checkMaker(maker, old);
    if (bad !== null) return bad;
    const { stored, key } = await addKey(app, trx, old, { replaces: encodeId('key', old.id) });
    const now = app.clock();
    const endsAt = now + overlapHours * HOUR_MS;
    await succeedKey(trx, id, stored.id, endsAt);
    // Processes of earlier versions, which run for a moment during an upgrade, do not know of `endsAt`.
    if (overlapHours === 0) await revokeKey(trx, id, now);
    await recordAudit(app, trx, {
      action: 'key.roll',
      projectId: old.projectId,
      subject: { kind: 'key', id: encodeId('key', id) },
      before: { mode: old.mode, kind: old.kind, ...grantValues(old), name: old.name },
      after: { ends_at: isoTime(endsAt), replaced_by: encodeId('key', stored.id) },
    });
    return { kind: 'done', stored, key, endsAt };
  });
}

/** A person who made, rolled or revoked a key, as the audit log names them. */
export interface KeyActor {
  readonly kind: ActorKind;
  readonly name: string;
}

/** The same with the name of the person as it is now; null: none, or no person. */
interface NamedActor extends KeyActor {
  readonly personName: string | null;
}

/** A key with the people who made and ended it, and the addresses that used it recently. */
export interface KeyDetails extends StoredKey {
  /** Null for keys from before there was an audit log. */
  readonly createdBy: NamedActor | null;
  /** The person who revoked or rolled it. */
  readonly endedBy: NamedActor | null;
  /** Recent clients, newest first. */
  readonly clients: readonly KeyClient[];
}

/** The keys of a project and mode, newest first, without those that ended more than a year ago. */
export async function keyDetails(app: App, { projectId, mode }: Within): Promise<readonly KeyDetails[]> {
  const longAgo = app.clock() - ENDED_KEYS_SHOWN_MS;
  const keys = (await listKeys(app.db, projectId))
    .filter((key) => key.mode === mode && (key.revokedAt ?? Infinity) > longAgo && (key.endsAt ?? Infinity) > longAgo)
    .toReversed();
  const ids = keys.map(({ id }) => id);
  const [clients, changes, names] = await Promise.all([
    keyClients(app.db, ids),
    changesOfKeys(
      app.db,
      ids.map((id) => encodeId('key', id)),
    ),
    namesOfPeople(app.db),
  ]);
  return keys.map((key) => {
    const own = changes.filter(({ subject }) => subject.id === encodeId('key', key.id));
    const by = (...actions: readonly string[]): NamedActor | null => {
      const actor = own.findLast(({ action }) => actions.includes(action))?.actor;
      if (actor === undefined) return null;
      return { kind: actor.kind, name: actor.name, personName: names.get(actor.id ?? '') ?? null };
    };
    return {
      ...key,
      createdBy: by('key.create'),
      endedBy: by('key.revoke') ?? by('key.roll'),
      clients: clients.filter(({ keyId }) => keyId === key.id),
    };
  });
}

/** A live key with more permissions than its maker has now. */
export interface KeyBeyondRole {
  readonly key: StoredKey;
  readonly maker: KeyActor;
  /** The maker's present role; null: none, or the account is deactivated. */
  readonly role: Role | null;
}

/** A key that works, with the person who made it. */
export interface MadeKey {
  readonly key: StoredKey;
  readonly maker: KeyActor & { readonly id: string | null };
}

/** The working keys that people made, in one project or in all, as far as the audit log knows their makers. */
export async function keysPeopleMade(app: App, projectId: string | null): Promise<readonly MadeKey[]> {
  const now = app.clock();
  const keys = (await listUnrevoked(app.db, projectId)).filter(({ endsAt }) => (endsAt ?? Infinity) > now);
  const ids = keys.map(({ id }) => encodeId('key', id));
  const made = (await changesOfKeys(app.db, ids)).filter(
    ({ action, actor }) => action === 'key.create' && actor.kind === 'person',
  );
  const makers = new Map(made.map(({ subject, actor }) => [subject.id, actor]));
  return keys.flatMap((key) => {
    const maker = makers.get(encodeId('key', key.id));
    return maker === undefined ? [] : [{ key, maker }];
  });
}

/** A project's live keys beyond their makers' roles, where the audit log knows the maker. */
export async function keysBeyondRole(app: App, projectId: string): Promise<readonly KeyBeyondRole[]> {
  const made = (await keysPeopleMade(app, projectId)).filter(({ key }) => key.mode === 'live');
  if (made.length === 0) return [];
  const members = await listMembers(app.db);
  return made.flatMap(({ key, maker }) => {
    const person = members.find(({ id, deactivatedAt }) => id === maker.id && deactivatedAt === null);
    const role = roleIn(person?.memberships ?? [], projectId);
    return beyondRole(role, key) === null ? [] : [{ key, maker, role }];
  });
}

const ENDED_KEYS_SHOWN_MS = 365 * 24 * HOUR_MS;
