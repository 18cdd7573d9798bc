import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { namesIn, textsIn } from './check-texts.ts';

/**
 * Writes the names of the values that texts take as types, so that a call without one of them does not compile. With
 * --check it only reports outdated files.
 */
const ROOT = path.join(import.meta.dirname, '..');
const FILES = [
  ['texts/checkout/en.json', 'src/http/checkout/language/text-values.ts'],
  ['texts/dashboard/en', 'web/dashboard/texts/text-values.ts'],
  ['texts/refusals/en', 'src/domain/refusal-values.ts'],
] as const;

for (const [place, file] of FILES) {
  const entries = Object.entries(textsIn(place)).map(([key, text]) => [key.split('.').at(-1), namesIn(text)] as const);
  const lines = entries
    .filter(([, names]) => names.length > 0)
    .map(([key, names]) => `  readonly ${key}: ${names.map((name) => `'${name.slice(1, -1)}'`).join(' | ')};\n`);
  const code = `/** The values in ${place}; \`npm run text-values\` writes this file. */\nexport interface TextValues {\n${lines.join('')}}\n`;
  if (!process.argv.includes('--check')) writeFileSync(path.join(ROOT, file), code);
  else if (readFileSync(path.join(ROOT, file), 'utf8') !== code) {
    console.error(`${file} is not up to date with ${place}. Run: npm run text-values`);
    process.exitCode = 1;
  }
}
