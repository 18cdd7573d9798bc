import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';

const ROOT = path.join(import.meta.dirname, '../../..');
/** Where the browser code of the payment page is written, and where it is built into. */
export const SOURCE_FOLDER = path.join(ROOT, 'web/checkout');
export const BUILD_FOLDER = path.join(ROOT, 'web/dist/checkout');
const BUILDER = path.join(ROOT, 'scripts/build-web.ts');

/** What a build is made of; `source` is the digest of the sources that it was made from. */
export interface Manifest {
  readonly page: string;
  readonly style: string;
  readonly source: string | null;
}

/** One file as it is served, whole and compressed, all in memory. */
export interface AssetRoute {
  readonly path: string;
  readonly contentType: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly etag: string;
  readonly bodies: Readonly<Record<Encoding, Buffer>>;
}

export interface Assets {
  /** Of the style sheet and of the module script of every page here; another content gets another path. */
  readonly stylePath: string;
  readonly scriptPath: string;
  readonly routes: readonly AssetRoute[];
}

type Encoding = 'br' | 'gzip' | 'identity';

export interface AssetOptions {
  readonly folder?: string;
  /** Makes the build where it is missing or older than its sources. */
  readonly build?: () => Promise<void>;
}

/**
 * Reads the build once, at start. A checkout that was never built, or was changed since, is built then and there. Throws
 * when that fails, naming the way out.
 */
export async function loadAssets(options: AssetOptions = {}): Promise<Assets> {
  const { folder = BUILD_FOLDER, build = runBuilder } = options;
  const found = await readBuild(folder);
  if (found !== null) return found;
  try {
    await build();
  } catch (error) {
    throw new Error('The payment page could not be built. Run `npm run build` and look at what it says.', {
      cause: error,
    });
  }
  const built = await readBuild(folder);
  if (built === null) throw new Error(`There is no build in ${folder}. Run \`npm run build\`.`);
  return built;
}

/** Serves the assets: hashed ones for good, the script for shops' pages to any site, for five minutes. */
export function assetRoutes(app: FastifyInstance, assets: Assets): void {
  for (const route of assets.routes) {
    app.get(route.path, { config: { guard: { kind: 'open' } }, schema: { hide: true } }, (request, reply) => {
      void reply.headers(route.headers).headers({ etag: route.etag, vary: 'accept-encoding' });
      if (matchesEtag(request.headers['if-none-match'], route.etag)) return reply.code(304).send();
      const encoding = negotiateEncoding(request.headers['accept-encoding']);
      if (encoding !== 'identity') void reply.header('content-encoding', encoding);
      return reply.header('content-type', route.contentType).send(route.bodies[encoding]);
    });
  }
}

/**
 * The smallest form that the client takes (RFC 9110, section 12.5.3): of those it weighs the same, Brotli before gzip.
 * A client that says nothing, or refuses everything, gets the plain text.
 */
export function negotiateEncoding(header: string | string[] | undefined): Encoding {
  const weights = new Map<string, number>();
  for (const part of String(header ?? '').split(',')) {
    const [name = '', ...parameters] = part.toLowerCase().split(';');
    const weight = parameters.map((parameter) => /^\s*q\s*=\s*([\d.]+)\s*$/.exec(parameter)?.[1]).find(Boolean);
    weights.set(name.trim(), Number(weight ?? 1));
  }
  const weigh = (encoding: Encoding) => weights.get(encoding) ?? weights.get('*') ?? 0;
  const best = weigh('br') >= weigh('gzip') ? 'br' : 'gzip';
  return weigh(best) > 0 && weigh(best) >= (weights.get('identity') ?? 0) ? best : 'identity';
}

function matchesEtag(header: string | undefined, etag: string): boolean {
  return header !== undefined && header.split(',').some((tag) => tag.trim() === etag || tag.trim() === '*');
}

/** The digest of all sources of the build, or null where they were left out of an installation. */
export async function sourceDigest(): Promise<string | null> {
  try {
    const names = (await readdir(SOURCE_FOLDER)).filter((name) => /\.(?:ts|css)$/.test(name)).sort();
    const hash = createHash('sha256');
    for (const file of [...names.map((name) => path.join(SOURCE_FOLDER, name)), BUILDER])
      hash
        .update(`${path.basename(file)}\0`)
        .update(await readFile(file))
        .update('\0');
    return hash.digest('hex');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** Null when there is no build, or one of other sources. */
async function readBuild(folder: string): Promise<Assets | null> {
  try {
    const manifest: Manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
    const source = await sourceDigest();
    if (source !== null && source !== manifest.source) return null;
    const style = await readRoute(folder, manifest.style, `/assets/${manifest.style}`, IMMUTABLE);
    const script = await readRoute(folder, manifest.page, `/assets/${manifest.page}`, IMMUTABLE);
    const embed = await readRoute(folder, 'embed.js', '/embed.js', FOR_SHOPS);
    return { stylePath: style.path, scriptPath: script.path, routes: [style, script, embed] };
  } catch (error) {
    if (isMissing(error) || error instanceof SyntaxError) return null;
    throw error;
  }
}

const IMMUTABLE = { 'cache-control': 'public, max-age=31536000, immutable' } as const;
const FOR_SHOPS = {
  'cache-control': 'public, max-age=300',
  'access-control-allow-origin': '*',
  'cross-origin-resource-policy': 'cross-origin',
} as const;

async function readRoute(
  folder: string,
  name: string,
  url: string,
  headers: Readonly<Record<string, string>>,
): Promise<AssetRoute> {
  const file = path.join(folder, name);
  const [identity, br, gzip] = await Promise.all([readFile(file), readFile(`${file}.br`), readFile(`${file}.gz`)]);
  return {
    path: url,
    contentType: `text/${name.endsWith('.css') ? 'css' : 'javascript'}; charset=utf-8`,
    headers,
    // Weak: the same content in any encoding.
    etag: `W/"${createHash('sha256').update(identity).digest('hex').slice(0, 16)}"`,
    bodies: { identity, br, gzip },
  };
}

/** In a process of its own: the bundler's memory goes with it, and what it sets in the environment stays there. */
async function runBuilder(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILDER], { cwd: ROOT, timeout: 60_000 });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
