import { createHash } from 'node:crypto';
import { formatKey } from '../domain/api-key.ts';
import type { KeyKind, Mode, Permission } from '../domain/permission.ts';
import { insertKey, listKeys, revokeKey, type StoredKey } from '../store/api-keys.ts';
import { findProject, insertProject, listProjects, updateProject, type Project } from '../store/projects.ts';
import { parseCidr } from '../webhooks/guard.ts';
import { newId, type App } from './context.ts';

/** What an operator asked for cannot be done; `message` names the thing, the rule and the way out. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly message: string;
}

const MAX_NAME_LENGTH = 100;
const MAX_SPREAD_BASIS_POINTS = 5_000;

/** A name of a project or key: 1 to 100 characters, no control characters. */
function checkName(name: string, option: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    trimmed !== '' && trimmed.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(trimmed) && trimmed.isWellFormed();
  return fine
    ? null
    : { kind: 'rejected', message: `${option} must have 1 to ${MAX_NAME_LENGTH} characters on one line.` };
}

function noProject(id: string): Rejected {
  return { kind: 'rejected', message: `There is no project ${id}. List them with: cointill project list` };
}

export async function createProject(
  app: App,
  name: string,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  const bad = checkName(name, '--name');
  if (bad !== null) return bad;
  const now = app.clock();
  const project: Project = {
    id: newId(app, now),
    name: name.trim(),
    active: true,
    allowIps: [],
    spreadBasisPoints: 0,
    sweepMinUsdCents: 0n,
    allowOrigins: [],
    createdAt: now,
  };
  await app.db.transaction().execute((trx) => insertProject(trx, project));
  return { kind: 'done', project };
}

export function projectsOf(app: App): Promise<readonly Project[]> {
  return listProjects(app.db);
}

/** Changes a project. IPs are addresses or CIDRs, an empty list opens it; origins are `https://shop.example`. */
export async function changeProject(
  app: App,
  id: string,
  changes: {
    readonly active?: boolean;
    readonly allowIps?: readonly string[];
    readonly spreadBasisPoints?: number;
    readonly sweepMinUsdCents?: bigint;
    readonly allowOrigins?: readonly string[];
  },
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  for (const cidr of changes.allowIps ?? []) {
    const parsed = parseCidr(cidr);
    if (parsed.kind === 'bad') return { kind: 'rejected', message: `--allow-ips: ${parsed.message}` };
  }
  const { spreadBasisPoints = 0 } = changes;
  if (spreadBasisPoints < 0 || spreadBasisPoints > MAX_SPREAD_BASIS_POINTS) {
    return { kind: 'rejected', message: '--spread must be a percentage from 0 to 50 with at most two decimals.' };
  }
  const origins: string[] = [];
  for (const text of changes.allowOrigins ?? []) {
    const url = URL.parse(text);
    const isOrigin =
      url !== null && (url.protocol === 'https:' || url.protocol === 'http:') && url.href === `${url.origin}/`;
    if (!isOrigin) {
      return { kind: 'rejected', message: `--allow-origins: "${text}" is not an origin such as https://shop.example.` };
    }
    origins.push(url.origin);
  }
  const normalised = changes.allowOrigins === undefined ? changes : { ...changes, allowOrigins: origins };
  const project = await app.db.transaction().execute((trx) => updateProject(trx, id, normalised));
  return project === null ? noProject(id) : { kind: 'done', project };
}

/** Makes a key. Its text is returned here and nowhere else; only its hash is kept. */
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
  const found = await app.db.transaction().execute((trx) => revokeKey(trx, id, app.clock()));
  return found
    ? { kind: 'done' }
    : { kind: 'rejected', message: 'There is no such key. List them with: cointill key list' };
}
