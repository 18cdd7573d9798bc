import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { promisify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { etagOf, sendFile, type ServedFile } from '../served-file.ts';

const ROOT = path.join(import.meta.dirname, '../../..');
/** The folder of the pages' browser code, and the folder of its build. */
export const WEB_FOLDER = path.join(ROOT, 'web');
export const BUILD_FOLDER = path.join(ROOT, 'web/dist/checkout');
/** The dashboard's texts and the guide are sources of the build. */
const TEXTS_FOLDER = path.join(ROOT, 'texts/dashboard');
const GUIDE_FOLDER = path.join(ROOT, 'docs/guide');
const BUILDS = path.join(ROOT, 'web/dist') + path.sep;
const BUILDER = path.join(ROOT, 'scripts/build-web.ts');
/** Pages of the documentation that stand beside the guide, relative to the checkout. */
export const PAGES_BESIDE_GUIDE: readonly string[] = [
  'docs/when-something-is-lost.md',
  'docs/how-to/debug-a-payment.md',
];
const OTHER_SOURCES = [...PAGES_BESIDE_GUIDE, 'scripts/build-guide.ts', 'src/http/docs/blocks.ts'];
/** The guide's pages, in the folder of the build. */
export const GUIDE_FILE = 'guide.json';

/** The content of a build; `source` is the digest of its sources. */
export interface Manifest {
  readonly page: string;
  readonly style: string;
  readonly docs: string;
  readonly docsStyle: string;
  readonly source: string | null;
}

/** One file of the build, with its path. */
export interface AssetRoute extends ServedFile {
  readonly path: string;
}

export interface Assets {
  /** Paths of the style sheet and the module script of every page here; different content gets a different path. */
  readonly stylePath: string;
  readonly scriptPath: string;
  /** The same for the documentation. */
  readonly docsStylePath: string;
  readonly docsScriptPath: string;
  /** The file of the guide's pages. */
  readonly guideFile: string;
  readonly routes: readonly AssetRoute[];
}

export interface AssetOptions {
  readonly folder?: string;
  /** Builds if the build is missing or older than its sources. */
  readonly build?: () => Promise<void>;
  /** Whether the build tool is installed: a production installation has only the build. */
  readonly hasBuilder?: boolean;
}

/**
 * Reads the build once, at start. A checkout that was never built, or was changed since, is built at once. Throws if
 * that fails, naming the way out.
 */
export async function loadAssets(options: AssetOptions = {}): Promise<Assets> {
  const { folder = BUILD_FOLDER, build = runBuilder, hasBuilder = isBuilderInstalled() } = options;
  const found = await readBuild(folder);
  if (found !== null) return found;
  if (!hasBuilder) {
    throw new Error(
      'The payment page is not built, and the tools that build it are not installed. Run `npm ci`, which also builds the page. You can run `npm prune --omit=dev` afterwards.',
    );
  }
  try {
    await build();
  } catch (error) {
    throw new Error('The payment page could not be built. Run `npm run build` and read its output.', {
      cause: error,
    });
  }
  const built = await readBuild(folder);
  if (built === null) throw new Error(`There is no build in ${folder}. Run \`npm run build\`.`);
  return built;
}

/** Serves the assets: hashed ones to be cached forever, the scripts for shops' pages to any site, for five minutes. */
export function assetRoutes(app: FastifyInstance, assets: Assets): void {
  for (const route of assets.routes) {
    app.get(route.path, { config: { guard: { kind: 'open' } }, schema: { hide: true } }, (request, reply) =>
      sendFile(request, reply, route),
    );
  }
}

/** The digest of all sources of the build, or null if an installation does not include them. */
export async function sourceDigest(): Promise<string | null> {
  try {
    const hash = createHash('sha256');
    const folders = await Promise.all([WEB_FOLDER, TEXTS_FOLDER, GUIDE_FOLDER].map(sourcesIn));
    const others = OTHER_SOURCES.map((file) => path.join(ROOT, file));
    for (const file of [...folders.flat(), ...others, BUILDER])
      hash
        .update(`${path.relative(WEB_FOLDER, file)}\0`)
        .update(await readFile(file))
        .update('\0');
    return hash.digest('hex');
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

/** All files of the folder except the build. An installation may omit all folders. */
async function sourcesIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true });
  const files = entries.filter((entry) => entry.isFile() && /\.(?:tsx?|css|svg|json|md)$/.test(entry.name));
  const names = files.map((entry) => path.join(entry.parentPath, entry.name)).sort();
  const sources = names.filter((name) => !name.startsWith(BUILDS));
  // The folder contains only the build if the sources are absent.
  if (sources.length === 0) throw Object.assign(new Error('There are no sources.'), { code: 'ENOENT' });
  return sources;
}

/** Null if there is no build, or only one of other sources. */
async function readBuild(folder: string): Promise<Assets | null> {
  try {
    const manifest: Manifest = JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
    const source = await sourceDigest();
    if (source !== null && source !== manifest.source) return null;
    const style = await readRoute(folder, manifest.style, `/assets/${manifest.style}`, IMMUTABLE);
    const script = await readRoute(folder, manifest.page, `/assets/${manifest.page}`, IMMUTABLE);
    const embed = await readRoute(folder, 'embed.js', '/embed.js', FOR_SHOPS);
    const button = await readRoute(folder, 'button.js', '/button.js', FOR_SHOPS);
    const modal = await readRoute(folder, 'modal.js', '/modal/btcpay.js', FOR_SHOPS);
    const docsStyle = await readRoute(folder, manifest.docsStyle, `/assets/${manifest.docsStyle}`, IMMUTABLE);
    const docs = await readRoute(folder, manifest.docs, `/assets/${manifest.docs}`, IMMUTABLE);
    return {
      stylePath: style.path,
      scriptPath: script.path,
      docsStylePath: docsStyle.path,
      docsScriptPath: docs.path,
      guideFile: path.join(folder, GUIDE_FILE),
      routes: [style, script, embed, button, modal, docsStyle, docs],
    };
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
    etag: etagOf(identity),
    bodies: { identity, br, gzip },
  };
}

/** Runs in a separate process, whose memory is freed and whose changes to the environment do not affect us. */
function isBuilderInstalled(): boolean {
  try {
    createRequire(import.meta.url).resolve('vite/package.json');
    return true;
  } catch {
    return false;
  }
}

async function runBuilder(): Promise<void> {
  await promisify(execFile)(process.execPath, [BUILDER], { cwd: ROOT, timeout: 60_000 });
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
