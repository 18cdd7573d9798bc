import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** Limits comments to the length of a line of code, because the formatter does not wrap them. */
const MAX_COLUMNS = 120;
const ROOT = path.join(import.meta.dirname, '..');
const FILES = ['{bench,scripts,src,test,web}/**/*.{css,sh,sol,ts,tsx}', '*.ts'];
const COMMENT = /^\s*(?:\/\/|\/\*|\*(?!\*)|#)/;

const tooLong = globSync(FILES, { cwd: ROOT })
  .filter((file) => !file.includes('node_modules'))
  .flatMap((file) =>
    readFileSync(path.join(ROOT, file), 'utf8')
      .split('\n')
      .map((line, index) => ({ place: `${file}:${index + 1}`, line }))
      .filter(({ line }) => line.length > MAX_COLUMNS && COMMENT.test(line)),
  );
for (const { place, line } of tooLong) {
  console.error(`${place} is a comment of ${line.length} columns; ${MAX_COLUMNS} are allowed.`);
}
if (tooLong.length > 0) process.exit(1);
