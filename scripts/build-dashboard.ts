import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type InlineConfig, type Rolldown } from 'vite';
import { sourceDigest, WEB_FOLDER } from '../src/http/pages/assets.ts';
import { putInPlace } from './put-in-place.ts';

const ROOT = path.join(import.meta.dirname, '..');
const FOLDER = path.join(WEB_FOLDER, 'dist/dashboard');
const ENTRY = 'main.tsx';
/** The till, a document of its own that shares its files with the dashboard. */
const TILL = 'till/main.tsx';
/** The page where a person agrees to a key for a shop: a document of its own, whose policy depends on the shop. */
const CONNECT = 'connect/main.tsx';
/** A small script that runs before anything is drawn. */
const FIRST = 'before-paint.ts';
/** The most visited page: the document names its files, so that they load at once. */
const FIRST_PAGE = 'pages/home/home-page.tsx';
/** Browsers of the last three years. */
const TARGET = ['chrome119', 'edge119', 'firefox119', 'safari17'];

/** Groups of shared modules, because the bundler would make a file of each module that two pages share. */
const GROUPS = [
  {
    name: 'libraries',
    priority: 3,
    test: /vite\/preload-helper|node_modules\/(?:react|react-dom|scheduler|use-sync-external-store|@tanstack\/|@base-ui\/react\/(?:csp-provider|internals\/csp-context))/,
  },
  // Parts that open over a page are half as large as React, and wait until they are needed.
  {
    name: 'popups',
    priority: 1,
    test: /node_modules\/(?:@base-ui|@floating-ui)\/|dashboard\/ui\/(?:dialog|popup)\.tsx$/,
  },
  // Forms and files are in dialogs and on pages of their own, never on Home.
  {
    name: 'forms',
    priority: 0,
    test: /dashboard\/(?:ui\/(?:action-dialog|choices|form)\.tsx|(?:decimal|download|passkeys|(?:use-)?typed-number)\.ts)$/,
    minShareCount: 2,
  },
  // Wallets in the browser sign refunds and sweeps, on pages of their own.
  { name: 'wallets', priority: 0, test: /dashboard\/wallets\/|web\/wallets\//, minShareCount: 2 },
  {
    name: 'shared',
    priority: 2,
    test: /web\/(?:clipboard|dashboard\/(?!texts\/|pages\/|wallets\/)(?!ui\/(?:dialog|popup|action-dialog|choices|form)\.tsx)(?!(?:decimal|download|passkeys|(?:use-)?typed-number)\.ts).*)\.(?:tsx?|module\.css)$/,
    minShareCount: 2,
  },
];

/** The files of a build, by name below `assets/`. */
export interface DashboardManifest {
  readonly source: string | null;
  /** The script that runs before anything is drawn. */
  readonly first: string;
  /** The scripts that Home runs, the first one first. */
  readonly home: readonly string[];
  /** The scripts that the till runs, the first one first. */
  readonly till: readonly string[];
  /** The scripts of the page that connects a shop, the first one first. */
  readonly connect: readonly string[];
  /** The script that draws menus and dialogs, loaded after the page. */
  readonly popups: readonly string[];
  readonly scripts: readonly string[];
  readonly styles: readonly string[];
}

/**
 * Builds the dashboard into `web/dist/dashboard`: `index.html`, hashed files below `assets/`, all with compressed
 * siblings, and `manifest.json`. Does nothing if an existing build has the same sources and packages. The folder
 * appears as a whole. Throws with the compiler's message if the sources do not compile.
 */
export async function buildDashboard(folder: string = FOLDER): Promise<DashboardManifest> {
  const source = await digest();
  const found = await readManifest(folder);
  if (found !== null && found.source === source) return found;
  const fresh = path.join(path.dirname(folder), `.build-${randomUUID()}`);
  await mkdir(path.join(fresh, 'assets'), { recursive: true });
  try {
    const output = await bundle([ENTRY, TILL, CONNECT], { codeSplitting: { groups: GROUPS } });
    const [first] = await bundle([FIRST], { format: 'iife' });
    if (first === undefined) throw new Error(`Vite has built nothing from ${FIRST}.`);
    const icon = await hashed('icon.svg');
    const appIcons = await Promise.all(APP_ICONS.map(({ file }) => hashed(file)));
    const app = named('till.webmanifest', JSON.stringify(appOf(appIcons.map(({ name }) => name))));
    const manifest = manifestOf(output, first.fileName, source);
    const files = [
      ...[first, ...output].map((one) => ({ name: one.fileName, content: contentOf(one) })),
      ...appIcons,
      icon,
      app,
    ];
    await Promise.all(files.map(({ name, content }) => writeAll(path.join(fresh, 'assets', name), content)));
    const { home, till, connect } = manifest;
    await writeAll(path.join(fresh, 'index.html'), documentOf(manifest, home, iconLinks(icon.name)));
    await writeAll(path.join(fresh, 'connect.html'), documentOf(manifest, connect, iconLinks(icon.name)));
    const tillHead = `${iconLinks(icon.name, appIcons[0]?.name)}\n${TILL_HEAD}\n<link rel="manifest" href="${urlOf(app.name)}">`;
    await writeAll(path.join(fresh, 'till.html'), documentOf(manifest, till, tillHead));
    await writeFile(path.join(fresh, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await putInPlace(fresh, folder);
    return manifest;
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The icons of the installed till. Drawn to the edge, so that each device can cut its own shape. */
const APP_ICONS = [
  { file: 'till/icon-192.png', sizes: '192x192' },
  { file: 'till/icon-512.png', sizes: '512x512' },
] as const;
/** The colours of the header in both themes, for the system's bar above the installed till. */
const TILL_HEAD = `<meta name="theme-color" media="(prefers-color-scheme: light)" content="#ffffff">
<meta name="theme-color" media="(prefers-color-scheme: dark)" content="#151d1a">`;

/** The web app manifest of the till. Signing in, which is a page of the dashboard, stays within the installed app. */
function appOf(icons: readonly string[]): object {
  return {
    id: '/till',
    name: 'Cointill till',
    short_name: 'Till',
    start_url: '/till',
    scope: '/',
    display: 'standalone',
    theme_color: '#0b6b5b',
    background_color: '#f6f8f7',
    icons: icons.map((name, at) => ({
      src: urlOf(name),
      sizes: APP_ICONS[at]?.sizes,
      type: 'image/png',
      purpose: 'any maskable',
    })),
  };
}

interface NamedFile {
  readonly name: string;
  readonly content: string | Buffer;
}

/** A file under a name with the hash of its content. */
function named(file: string, content: string | Buffer): NamedFile {
  const { name, ext } = path.parse(file);
  return { name: `${name}.${createHash('sha256').update(content).digest('hex').slice(0, 8)}${ext}`, content };
}

async function hashed(file: string): Promise<NamedFile> {
  return named(file, await readFile(path.join(WEB_FOLDER, 'dashboard', file)));
}

const urlOf = (name: string): string => `/dashboard/assets/${name}`;

function iconLinks(icon: string, touch?: string): string {
  const link = `<link rel="icon" type="image/svg+xml" href="${urlOf(icon)}">`;
  return touch === undefined ? link : `${link}\n<link rel="apple-touch-icon" href="${urlOf(touch)}">`;
}

type Output = Rolldown.OutputChunk | Rolldown.OutputAsset;

async function bundle(entries: readonly string[], output: Rolldown.OutputOptions): Promise<readonly Output[]> {
  const root = path.join(WEB_FOLDER, 'dashboard');
  const config: InlineConfig = {
    configFile: false,
    envDir: false,
    publicDir: false,
    root,
    base: '/dashboard/assets/',
    mode: 'production',
    logLevel: 'error',
    // Another NODE_ENV of the caller would build React's slow version for developers.
    define: { 'process.env.NODE_ENV': '"production"' },
    // By default Vite also takes the packages' development builds unless NODE_ENV says otherwise.
    resolve: { conditions: ['module', 'browser', 'production'] },
    oxc: { jsx: { runtime: 'automatic', development: false } },
    json: { namedExports: false, stringify: false },
    css: { modules: { generateScopedName: '[hash:base64:5]' } },
    build: {
      write: false,
      target: TARGET,
      assetsDir: '',
      assetsInlineLimit: 0,
      // One small sheet for all pages, so that none appears before its styles.
      cssCodeSplit: false,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        // The names of the files come from those of the entries.
        input: Object.fromEntries(entries.map((entry) => [nameOf(entry), path.join(root, entry)])),
        output: {
          entryFileNames: '[name].[hash].js',
          chunkFileNames: '[name].[hash].js',
          assetFileNames: '[name].[hash][extname]',
          ...output,
        },
      },
    },
  };
  const [outcome] = [await build(config)].flat();
  if (outcome === undefined || !('output' in outcome))
    throw new Error(`Vite has built nothing from ${entries.join(', ')}.`);
  return outcome.output;
}

/** `till` for `till/main.tsx`, and `main` for `main.tsx`. */
function nameOf(entry: string): string {
  const { dir, name } = path.parse(entry);
  return dir === '' ? name : dir;
}

function manifestOf(output: readonly Output[], first: string, source: string | null): DashboardManifest {
  const chunks = new Map(output.filter((one) => one.type === 'chunk').map((chunk) => [chunk.fileName, chunk]));
  const byModule = (name: string): string => {
    const chunk = [...chunks.values()].find(({ facadeModuleId }) => facadeModuleId?.endsWith(`/dashboard/${name}`));
    if (chunk === undefined) throw new Error(`The build of the dashboard has no chunk of ${name}.`);
    return chunk.fileName;
  };
  const withImports = (...modules: readonly string[]): readonly string[] => {
    const taken = new Set<string>();
    const take = (name: string): void => {
      if (taken.has(name)) return;
      taken.add(name);
      for (const imported of chunks.get(name)?.imports ?? []) take(imported);
    };
    for (const name of modules) take(byModule(name));
    return [...taken];
  };
  const styles = output.filter(({ fileName }) => fileName.endsWith('.css')).map(({ fileName }) => fileName);
  const scripts = [...chunks.keys()].toSorted();
  const popups = scripts.filter((name) => /^popups?\./.test(name));
  const [home, till, connect] = [withImports(ENTRY, FIRST_PAGE), withImports(TILL), withImports(CONNECT)];
  return { source, first, home, till, connect, popups, scripts: [first, ...scripts], styles };
}

/** The document, without inline scripts and styles, which the page's policy refuses. */
function documentOf(
  { first, styles }: DashboardManifest,
  [entry = '', ...others]: readonly string[],
  head: string,
): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<title>Cointill</title>
${head}
<script src="${urlOf(first)}"></script>
${styles.map((name) => `<link rel="stylesheet" href="${urlOf(name)}">`).join('\n')}
<script type="module" src="${urlOf(entry)}"></script>
${others.map((name) => `<link rel="modulepreload" href="${urlOf(name)}">`).join('\n')}
</head>
<body>
<div id="root"></div>
<noscript>The dashboard needs JavaScript. Everything in it can also be done by the API and on the command line.</noscript>
</body>
</html>
`;
}

function contentOf(file: Output): string {
  return file.type === 'chunk' ? file.code : Buffer.from(file.source).toString();
}

async function writeAll(file: string, text: string | Buffer): Promise<void> {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  await Promise.all([
    writeFile(file, text),
    promisify(brotliCompress)(text, { params }).then((compressed) => writeFile(`${file}.br`, compressed)),
    promisify(gzip)(text, { level: 9 }).then((compressed) => writeFile(`${file}.gz`, compressed)),
  ]);
}

/** The digest of the sources and of their packages' versions; null: an installation without the packages. */
async function digest(): Promise<string | null> {
  const sources = await sourceDigest();
  if (sources === null) return null;
  const hash = createHash('sha256').update(sources);
  for (const file of [path.join(ROOT, 'package-lock.json'), import.meta.filename]) hash.update(await readFile(file));
  return hash.digest('hex');
}

async function readManifest(folder: string): Promise<DashboardManifest | null> {
  try {
    return JSON.parse(await readFile(path.join(folder, 'manifest.json'), 'utf8'));
  } catch {
    // There is no complete build, so a new one is made.
    return null;
  }
}
