import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { PAGES_BESIDE_GUIDE } from '../src/http/pages/assets.ts';

const ROOT = path.join(import.meta.dirname, '..');

/** The files of all pages of the documentation, relative to the repository. */
export const GUIDE_FILES: readonly string[] = [
  ...globSync('docs/guide/*.md', { cwd: ROOT }).filter((file) => file !== 'docs/guide/README.md'),
  ...PAGES_BESIDE_GUIDE,
].toSorted();

/** The pages whose commands a test of their own runs: in the state of the machine that the page is about. */
export const RUN_BY_OTHERS: Readonly<Record<string, string>> = {
  'docs/when-something-is-lost.md': 'test/e2e/when-something-is-lost.program.test.ts',
  'docs/guide/try-ether.md': 'test/e2e/try-live.program.test.ts',
  'docs/guide/try-litecoin.md': 'test/e2e/try-live.program.test.ts',
  'docs/guide/sdk.md': 'test/sdk/examples.db.test.ts',
  'docs/guide/recipe-express.md': 'test/sdk/recipes.program.test.ts',
  'docs/guide/recipe-fastify.md': 'test/sdk/recipes.program.test.ts',
  'docs/guide/recipe-hono.md': 'test/sdk/recipes.program.test.ts',
  'docs/guide/recipe-next.md': 'test/sdk/recipes.program.test.ts',
  'docs/guide/recipe-node.md': 'test/sdk/recipes.program.test.ts',
  'docs/guide/recipe-worker.md': 'test/sdk/recipes.program.test.ts',
};

export interface CodeBlock {
  readonly file: string;
  readonly language: string;
  /** The word behind the language: `on-a-server` is what a test cannot run, such as systemctl. */
  readonly mark: string;
  readonly code: string;
}

export function guideText(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8');
}

/** The code blocks of a page, those within lists too. */
export function codeBlocks(file: string, text = guideText(file)): readonly CodeBlock[] {
  return [...text.matchAll(/^ *```(\w+)(?: (\S+))?\n([^]*?)^ *```$/gm)].map(
    ([, language = '', mark = '', code = '']) => ({ file, language, mark, code }),
  );
}

/** The command lines of a block: what a backslash ends goes on, and comments alone are none. */
export function commandLines(code: string): readonly string[] {
  const lines = code.replaceAll(/\\\n */g, '').split('\n');
  return lines.map((line) => line.trim()).filter((line) => line !== '' && !line.startsWith('#'));
}
