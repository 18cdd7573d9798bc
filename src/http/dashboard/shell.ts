import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import { notFound } from '../errors.ts';
import { WEB_FOLDER } from '../pages/assets.ts';
import { pathOf } from '../path.ts';
import { etagOf, type ServedFile, sendFile } from '../served-file.ts';

/** The output of `scripts/build-web.ts` for `web/dashboard`. */
export const DASHBOARD_BUILD = path.join(WEB_FOLDER, 'dist/dashboard');
/** The served files below it, each with its siblings `.br` and `.gz`. Their names contain a hash of their contents. */
const ASSETS = 'assets';

/** The dashboard's page and everything it loads, in memory. */
export interface ShellAssets {
  readonly document: ServedFile;
  /** The till's document. */
  readonly till: ServedFile;
  /** The document where a person agrees to a key for a shop. */
  readonly connect: ServedFile;
  /** Files by their name below `/dashboard/assets/`. */
  readonly files: ReadonlyMap<string, ServedFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
};

const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

/**
 * Allows only resources of this host, and the icons of the browser's wallets, which come as `data:`
 * (docs/design/dashboard.md): no inline scripts or styles, no framing, no forms to other sites. No referrer, because
 * the address may contain a set-up link.
 */
export const DOCUMENT_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), display-capture=(), geolocation=(), microphone=(), payment=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-cache',
} as const;

/** The same for the till, which also has a manifest, because it can be installed. */
export const TILL_HEADERS = {
  ...DOCUMENT_HEADERS,
  'content-security-policy': `${DOCUMENT_HEADERS['content-security-policy']}; manifest-src 'self'`,
} as const;

/** Reads the build at start; null if there is none. */
export async function loadShellAssets(folder: string = DASHBOARD_BUILD): Promise<ShellAssets | null> {
  try {
    const names = (await readdir(path.join(folder, ASSETS))).filter((name) => TYPES[path.extname(name)] !== undefined);
    const files = await Promise.all(
      names.map(async (name) => [name, await read(path.join(folder, ASSETS, name), IMMUTABLE)] as const),
    );
    const [document, till, connect] = await Promise.all([
      read(path.join(folder, 'index.html'), DOCUMENT_HEADERS),
      read(path.join(folder, 'till.html'), TILL_HEADERS),
      read(path.join(folder, 'connect.html'), DOCUMENT_HEADERS),
    ]);
    return { document, till, connect, files: new Map(files) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function read(file: string, headers: Readonly<Record<string, string>>): Promise<ServedFile> {
  const [identity, br, gzip] = await Promise.all([readFile(file), readFile(`${file}.br`), readFile(`${file}.gz`)]);
  const contentType = TYPES[path.extname(file)] ?? 'text/html; charset=utf-8';
  return { contentType, headers, etag: etagOf(identity), bodies: { identity, br, gzip } };
}

const hidden = { hide: true } as const;

/**
 * The page, at `/dashboard` and every path below it except the API and assets; the browser decides what to show. The
 * till is at `/till`. Assets do not count toward the rate limit.
 */
export function shellRoutes(app: FastifyInstance, assets: ShellAssets): void {
  const counted = { config: { guard: { kind: 'dashboard', isCounted: true } }, schema: hidden } as const;
  const free = { config: { guard: { kind: 'dashboard', isCounted: false } }, schema: hidden } as const;
  app.get<{ Params: { name: string } }>('/dashboard/assets/:name', free, (request, reply) => {
    const file = assets.files.get(request.params.name);
    if (file === undefined) throw notFound('There is no such file. Reload the page.');
    return sendFile(request, reply, file);
  });
  app.get('/till', counted, (request, reply) => sendFile(request, reply, assets.till));
  app.get('/dashboard', counted, (request, reply) => sendFile(request, reply, assets.document));
  app.get('/dashboard/*', counted, (request, reply) => {
    if (/^\/dashboard\/(?:api|assets)(?:\/|$)/.test(pathOf(request))) {
      throw notFound(`There is nothing at ${request.method} ${pathOf(request).slice(0, 200)}.`);
    }
    return sendFile(request, reply, assets.document);
  });
}
