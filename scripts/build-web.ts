import { createHash, randomUUID } from 'node:crypto';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { build, type InlineConfig, type Rolldown } from 'vite';
import { BUILD_FOLDER, GUIDE_FILE, sourceDigest, WEB_FOLDER, type Manifest } from '../src/http/pages/assets.ts';
import { buildDashboard } from './build-dashboard.ts';
import { renderGuide } from './build-guide.ts';
import { putInPlace } from './put-in-place.ts';

/** Browsers of the last three years. */
const TARGET = ['chrome119', 'edge119', 'firefox119', 'safari17'];

/**
 * Builds the assets of the payment page and the documentation, the guide's pages, and the scripts for shops' pages,
 * into `web/dist/checkout`: each asset with its compressed versions, and `manifest.json`. The folder is replaced as a
 * whole, so that neither a crash nor a simultaneous build leaves half of it. Throws with the compiler's message if the
 * sources do not compile.
 */
export async function buildWeb(buildFolder: string = BUILD_FOLDER): Promise<void> {
  const source = await sourceDigest();
  const page = await bundle('checkout/page.ts', 'es');
  const style = await bundle('checkout/page.css', 'es');
  const embed = await bundle('checkout/embed.ts', 'iife');
  const button = await bundle('checkout/button.ts', 'iife');
  const modal = await bundle('checkout/modal.ts', 'iife');
  const docs = await bundle('docs/docs.ts', 'es');
  const docsStyle = await bundle('docs/docs.css', 'es');
  const guide = await renderGuide();
  const manifest: Manifest = {
    page: hashedName('page', 'js', page),
    style: hashedName('page', 'css', style),
    docs: hashedName('docs', 'js', docs),
    docsStyle: hashedName('docs', 'css', docsStyle),
    source,
  };

  const parent = path.dirname(buildFolder);
  const fresh = path.join(parent, `.build-${randomUUID()}`);
  await mkdir(fresh, { recursive: true });
  try {
    await writeAll(fresh, manifest.page, page);
    await writeAll(fresh, manifest.style, style);
    await writeAll(fresh, 'embed.js', embed);
    await writeAll(fresh, 'button.js', button);
    await writeAll(fresh, 'modal.js', modal);
    await writeAll(fresh, manifest.docs, docs);
    await writeAll(fresh, manifest.docsStyle, docsStyle);
    await writeFile(path.join(fresh, GUIDE_FILE), JSON.stringify(guide));
    await writeFile(path.join(fresh, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`);
    await putInPlace(fresh, buildFolder);
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

/** The text of one bundle: a script, or a style sheet. */
async function bundle(entry: string, format: 'es' | 'iife'): Promise<string> {
  const config: InlineConfig = {
    configFile: false,
    envDir: false,
    publicDir: false,
    root: WEB_FOLDER,
    logLevel: 'error',
    build: {
      write: false,
      target: TARGET,
      modulePreload: false,
      rolldownOptions: { input: path.join(WEB_FOLDER, entry), output: { format } },
    },
  };
  const [outcome] = [await build(config)].flat();
  if (outcome === undefined || !('output' in outcome)) throw new Error(`Vite has built nothing from ${entry}`);
  const text = outcome.output.map((file) => textOf(file, entry)).find((text) => text !== null);
  if (!text) throw new Error(`Vite has made nothing of ${entry}`);
  return text;
}

function textOf(file: Rolldown.OutputChunk | Rolldown.OutputAsset, entry: string): string | null {
  if (file.type === 'chunk') return entry.endsWith('.ts') ? file.code : null;
  return file.fileName.endsWith('.css') ? Buffer.from(file.source).toString() : null;
}

function hashedName(name: string, extension: string, text: string): string {
  return `${name}.${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${extension}`;
}

async function writeAll(folder: string, name: string, text: string): Promise<void> {
  const file = path.join(folder, name);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: text.length };
  await writeFile(file, text);
  await writeFile(`${file}.br`, await promisify(brotliCompress)(text, { params }));
  await writeFile(`${file}.gz`, await promisify(gzip)(text, { level: 9 }));
}

if (import.meta.main) {
  await buildWeb();
  await buildDashboard();
}
