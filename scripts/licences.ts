import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';

const ROOT = path.join(import.meta.dirname, '..');
const LICENCE = /^(?:licen[cs]e|copying|notice)/i;

/**
 * The licences of libraries that are built in, which have to be passed on with them, from the `package.json` of each,
 * relative to the repository.
 */
export async function licences(inputs: readonly string[]): Promise<string> {
  const libraries = inputs
    .filter((file) => /^node_modules\/.*\/package\.json$/.test(file))
    .map((file) => path.dirname(file));
  const texts = await Promise.all(
    libraries.map(async (library) => {
      const folder = path.join(ROOT, library);
      const { name, version, license }: Readonly<Record<string, unknown>> = JSON.parse(
        await readFile(path.join(folder, 'package.json'), 'utf8'),
      );
      const files = (await readdir(folder)).filter((file) => LICENCE.test(file)).toSorted();
      const contents = await Promise.all(files.map((file) => readFile(path.join(folder, file), 'utf8')));
      return [`${String(name)} ${String(version)} (${String(license)})`, ...contents.map((text) => text.trim())];
    }),
  );
  return `${texts.map((parts) => parts.join('\n\n')).join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}
