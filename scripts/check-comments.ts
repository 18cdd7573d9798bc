import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Checks the comments of all files: their length, because the formatter does not wrap them, and their first word,
 * because some words leave a comment without a subject.
 */
const MAX_COLUMNS = 120;
/** First words that leave a comment without a noun as its subject. */
const NO_SUBJECT = /^(?:As|Of|That|Those|What|Which|Whoever|Whose)\b/;

const ROOT = path.join(import.meta.dirname, '..');
const FILES = ['{bench,packages,scripts,src,test,web}/**/*.{css,sh,sol,ts,tsx}', '*.ts'];
const COMMENT = /^\s*(?:\/\/|\{?\/\*+|\*(?![*/])|#(?!!))\s*(?<text>.*)$/;

function faultsOf(file: string): readonly string[] {
  const lines = readFileSync(path.join(ROOT, file), 'utf8').split('\n');
  // The comment goes on while the lines above have text of it; the line of an opening mark alone has none.
  let isWithin = false;
  return lines.flatMap((line, index) => {
    const text = COMMENT.exec(line)?.groups?.['text'];
    const isFirst = text !== undefined && text !== '' && !isWithin;
    isWithin = text !== undefined && (isWithin || text !== '') && !line.trimEnd().endsWith('*/');
    const place = `${file}:${index + 1}`;
    return [
      ...(text !== undefined && line.length > MAX_COLUMNS
        ? [`${place} is a comment of ${line.length} columns; ${MAX_COLUMNS} are allowed.`]
        : []),
      ...(isFirst && NO_SUBJECT.test(text) ? [`${place} begins without a noun: ${line.trim()}`] : []),
    ];
  });
}

const faults = globSync(FILES, { cwd: ROOT })
  .filter((file) => !/node_modules|\/dist\/|\.generated\.ts$/.test(file))
  .flatMap(faultsOf);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exit(1);
