import { createHash } from 'node:crypto';
import { imageSize } from 'image-size';
import { formatKey } from '../../domain/api-key.ts';
import type { KeyKind, Mode, Permission } from '../../domain/permission.ts';
import { urlAmbiguity } from '../../domain/web-url.ts';
import { insertKey, listKeys, revokeKey, type StoredKey } from '../../store/api-keys.ts';
import {
  findProject,
  insertProject,
  listProjects,
  updateProject,
  type Logo,
  type Project,
  type ProjectChanges,
} from '../../store/projects.ts';
import type { LogoType } from '../../store/tables.ts';
import { parseCidr } from '../../webhooks/guard.ts';
import { newId, type App } from '../context.ts';

/** What an operator asked for cannot be done; `message` names the thing, the rule and the way out. */
export interface Rejected {
  readonly kind: 'rejected';
  /** Whether what was asked is itself no value of its kind, whatever is stored: then it was asked wrongly. */
  readonly malformed?: boolean;
  readonly message: string;
}

/** For a value that breaks its own rule. */
export function malformed(message: string): Rejected {
  return { kind: 'rejected', malformed: true, message };
}

const MAX_NAME_LENGTH = 100;
const MAX_SPREAD_BASIS_POINTS = 5_000;
const MAX_URL_LENGTH = 2_048;
/** The page with all that it needs should stay small on a slow phone; a good logo takes a tenth of it. */
export const MAX_LOGO_BYTES = 65_536;
const LOGO_SIDES = { min: 16, max: 2_048 } as const;

/** A picture as it came; `file` is what it is called in answers. */
export interface LogoFile {
  readonly file: string;
  readonly bytes: Buffer;
}

/** What an operator may change of a project. Null takes away; what is not given stays. */
type ProjectRequest = Omit<ProjectChanges, 'logo'> & { readonly logo?: LogoFile | null };

/** A name of a project or key: 1 to 100 characters, no control characters. */
function checkName(name: string, option: string): Rejected | null {
  const trimmed = name.trim();
  const fine =
    trimmed !== '' && trimmed.length <= MAX_NAME_LENGTH && !/\p{Cc}/u.test(trimmed) && trimmed.isWellFormed();
  return fine ? null : malformed(`${option} must have 1 to ${MAX_NAME_LENGTH} characters on one line.`);
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
  const project: Project & { readonly logo: null } = {
    id: newId(app, now),
    name: name.trim(),
    active: true,
    allowIps: [],
    spreadBasisPoints: 0,
    sweepMinUsdCents: 0n,
    allowOrigins: [],
    accent: null,
    supportUrl: null,
    logo: null,
    createdAt: now,
  };
  await app.db.transaction().execute((trx) => insertProject(trx, project));
  return { kind: 'done', project };
}

export function projectsOf(app: App): Promise<readonly Project[]> {
  return listProjects(app.db);
}

/**
 * Changes a project. IPs are addresses or CIDRs, an empty list opens it; origins are `https://shop.example`; the accent is
 * `#0b6b5b` with or without its sign; the support URL is https, http or mailto; the logo is a PNG, JPEG or WebP.
 */
export async function changeProject(
  app: App,
  id: string,
  request: ProjectRequest,
): Promise<{ readonly kind: 'done'; readonly project: Project } | Rejected> {
  const checked = checkRequest(request);
  if (checked.kind === 'rejected') return checked;
  const project = await app.db.transaction().execute((trx) => updateProject(trx, id, checked.changes));
  return project === null ? noProject(id) : { kind: 'done', project };
}

function checkRequest(request: ProjectRequest): { readonly kind: 'fine'; readonly changes: ProjectChanges } | Rejected {
  const { logo: logoFile, ...changes } = request;
  for (const cidr of changes.allowIps ?? []) {
    const parsed = parseCidr(cidr);
    if (parsed.kind === 'bad') return malformed(`--allow-ips: ${parsed.message}`);
  }
  const { spreadBasisPoints = 0 } = changes;
  if (spreadBasisPoints < 0 || spreadBasisPoints > MAX_SPREAD_BASIS_POINTS) {
    return malformed('--spread must be a percentage from 0 to 50 with at most two decimals.');
  }
  const allowOrigins: string[] = [];
  for (const text of changes.allowOrigins ?? []) {
    const origin = originOf(text);
    if (origin === null)
      return malformed(
        `--allow-origins: "${text}" is not an origin such as https://shop.example: give the scheme, the host as it is read, and a port at most.`,
      );
    allowOrigins.push(origin);
  }
  const accent = typeof changes.accent === 'string' ? accentOf(changes.accent) : null;
  if (typeof changes.accent === 'string' && accent === null) {
    return malformed(
      "--accent must be a colour of six hex digits, such as '#0b6b5b' (in quotes, since a shell takes # for a comment), or none.",
    );
  }
  const supportUrl = typeof changes.supportUrl === 'string' ? supportUrlOf(changes.supportUrl) : null;
  if (typeof changes.supportUrl === 'string' && supportUrl === null) {
    return malformed(
      `--support-url must be an absolute URL such as https://shop.example/help or mailto:help@shop.example, of at most ${MAX_URL_LENGTH} characters and without a password, or none.`,
    );
  }
  const logo = logoFile === undefined || logoFile === null ? null : parseLogo(logoFile);
  if (logo !== null && 'kind' in logo) return logo;
  return {
    kind: 'fine',
    changes: {
      ...changes,
      ...(changes.allowOrigins === undefined ? {} : { allowOrigins }),
      ...(changes.accent === undefined ? {} : { accent }),
      ...(changes.supportUrl === undefined ? {} : { supportUrl }),
      ...(logoFile === undefined ? {} : { logo }),
    },
  };
}

/** A name, IPv4 or IPv6 address; the URL parser takes more (`*`, `;`, quotes), and policies read that as something else. */
const PROPER_HOST = /^(?:(?:[a-z0-9-]+\.)*[a-z0-9-]+|\[[0-9a-f:]+\])$/;

function originOf(text: string): string | null {
  const url = URL.parse(text);
  const isOrigin =
    url !== null &&
    (url.protocol === 'https:' || url.protocol === 'http:') &&
    url.href === `${url.origin}/` &&
    urlAmbiguity(text, url) === null &&
    PROPER_HOST.test(url.hostname);
  return isOrigin ? url.origin : null;
}

function accentOf(text: string): string | null {
  const digits = /^#?([0-9a-f]{6})$/i.exec(text.trim())?.[1];
  return digits?.toLowerCase() ?? null;
}

/** The URL as browsers write it. It becomes a link on a public page: no script, no file, no password. */
function supportUrlOf(text: string): string | null {
  const url = URL.parse(text.trim());
  if (url === null || url.href.length > MAX_URL_LENGTH) return null;
  if (url.protocol === 'mailto:') return /^[^\s@,<>"]+@[^\s@,<>"]+$/.test(url.pathname) ? url.href : null;
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  return isWeb && url.username === '' && url.password === '' ? url.href : null;
}

/** Takes a picture as it is, when its content (whatever its name says) is a still PNG, JPEG or WebP of a logo's size. */
function parseLogo({ file, bytes }: LogoFile): Logo | Rejected {
  const refuse = (why: string): Rejected => ({ kind: 'rejected', message: `--logo: ${file} ${why}` });
  if (bytes.length > MAX_LOGO_BYTES) {
    return refuse(`is larger than ${MAX_LOGO_BYTES / 1_024} KiB. Save it with fewer pixels or more compression.`);
  }
  const type = logoTypeOf(bytes);
  if (type === null) return refuse('is not a PNG, JPEG or WebP picture by its content. Save it as one of these.');
  const state = pictureState(type, bytes);
  if (state === 'animated') return refuse('is animated, and a logo must stand still. Save one frame of it.');
  const size = state === 'broken' ? null : sizeOf(bytes);
  if (size === null) return refuse('is damaged or cut off. Export the picture again.');
  const { width, height } = size;
  const { min, max } = LOGO_SIDES;
  if (Math.min(width, height) < min || Math.max(width, height) > max) {
    return refuse(
      `is ${width} × ${height} pixels; each side must have ${min} to ${max.toLocaleString('en')}. Scale the picture.`,
    );
  }
  return { hash: createHash('sha256').update(bytes).digest('hex'), type, width, height, bytes };
}

const PNG_SIGNATURE = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
const JPEG_START = Buffer.from([0xff, 0xd8, 0xff]);
const JPEG_END = Buffer.from([0xff, 0xd9]);
const MAX_JPEG_PADDING_BYTES = 64;

function logoTypeOf(bytes: Buffer): LogoType | null {
  if (bytes.subarray(0, 8).equals(PNG_SIGNATURE)) return 'image/png';
  if (bytes.subarray(0, 3).equals(JPEG_START)) return 'image/jpeg';
  const isWebp = nameAt(bytes, 0) === 'RIFF' && nameAt(bytes, 8) === 'WEBP';
  return isWebp ? 'image/webp' : null;
}

/** Whether a picture is all there and stands still: browsers show half a file, and play some PNG and WebP files. */
function pictureState(type: LogoType, bytes: Buffer): 'still' | 'animated' | 'broken' {
  switch (type) {
    case 'image/png':
      return pngState(bytes);
    case 'image/jpeg':
      // A thumbnail inside has an end of its own, so only the last one counts; some programs pad the file after it.
      return bytes.lastIndexOf(JPEG_END) >= bytes.length - MAX_JPEG_PADDING_BYTES ? 'still' : 'broken';
    case 'image/webp': {
      if (bytes.length < 30 || bytes.readUInt32LE(4) + 8 > bytes.length) return 'broken';
      // The second bit of the extended header's flags (RFC 9649, 2.7).
      return nameAt(bytes, 12) === 'VP8X' && (bytes.readUInt8(20) & 2) !== 0 ? 'animated' : 'still';
    }
  }
}

/** Walks the chunks: IHDR comes first, IEND last; acTL, which makes it play, before the pixels (PNG 3, 5.6). */
function pngState(bytes: Buffer): 'still' | 'animated' | 'broken' {
  if (nameAt(bytes, 12) !== 'IHDR') return 'broken';
  for (let at = PNG_SIGNATURE.length; at + 12 <= bytes.length; at += 12 + bytes.readUInt32BE(at)) {
    const name = nameAt(bytes, at + 4);
    if (name === 'acTL') return 'animated';
    if (name === 'IEND') return 'still';
  }
  return 'broken';
}

function nameAt(bytes: Buffer, at: number): string {
  return bytes.toString('latin1', at, at + 4);
}

/** The sides as a browser shows them: a photograph's orientation may say that it lies on its side (Exif 2.32, 4.6.4). */
function sizeOf(bytes: Buffer): { readonly width: number; readonly height: number } | null {
  try {
    const { width, height, orientation = 1 } = imageSize(bytes);
    return orientation >= 5 ? { width: height, height: width } : { width, height };
  } catch {
    return null;
  }
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
