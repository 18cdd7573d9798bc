import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { etagOf, type ServedFile } from '../served-file.ts';
import { WEB_FOLDER } from '../pages/assets.ts';

/** What `scripts/build-web.ts` makes of `web/dashboard`. */
export const DASHBOARD_BUILD = path.join(WEB_FOLDER, 'dist/dashboard');
/**
 * The files below it that are served, each with its siblings `.br` and `.gz`; their names change with their contents.
 */
const ASSETS = 'assets';

/** The page of the dashboard and all that it loads, in memory. */
export interface ShellAssets {
  readonly document: ServedFile;
  /** By the name below `/dashboard/assets/`. */
  readonly files: ReadonlyMap<string, ServedFile>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' } as const;

/**
 * Nothing but what this host serves; no inline script or style, no frame around it, no form that goes elsewhere. The
 * link of a set-up is in the address, which no other site is told.
 */
export const DOCUMENT_HEADERS = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cache-control': 'no-cache',
} as const;

/** Reads the build once, at start. Null when there is none. */
export async function loadShellAssets(folder: string = DASHBOARD_BUILD): Promise<ShellAssets | null> {
  try {
    const names = (await readdir(path.join(folder, ASSETS))).filter((name) => TYPES[path.extname(name)] !== undefined);
    const files = await Promise.all(
      names.map(async (name) => [name, await read(path.join(folder, ASSETS, name), IMMUTABLE)] as const),
    );
    return { document: await read(path.join(folder, 'index.html'), DOCUMENT_HEADERS), files: new Map(files) };
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
