import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Writes the list of decisions from the records themselves; with `--check` it only says whether the list is up to date.
 */
const FOLDER = path.join(import.meta.dirname, '../docs/decisions');
const INDEX = path.join(FOLDER, 'README.md');
const STATUS = /^\*\*Status:\*\* (in force|changed by .*\d{4}.*|replaced by \d{4})\.$/m;

const HEAD = `# Decisions

What the specification leaves open, and what was decided: what was open, what was chosen, why, and what was tried. A record
says whether it is **in force**, **changed by** a later one in part, or **replaced**; records are never taken away. A new one has the
next free number and this form; \`node scripts/index-decisions.ts\` writes this list.

`;

const problems: string[] = [];
const lines = readdirSync(FOLDER)
  .filter((file) => /^\d{4}-.*\.md$/.test(file))
  .toSorted()
  .map((file) => {
    const text = readFileSync(path.join(FOLDER, file), 'utf8');
    const title = /^# (.+)$/m.exec(text)?.[1];
    const status = STATUS.exec(text)?.[1];
    if (title === undefined) problems.push(`${file} has no title.`);
    if (status === undefined)
      problems.push(`${file} has no "**Status:** in force." (or changed by, or replaced by a number).`);
    const note = status === 'in force' ? '' : ` (${status ?? 'without a status'})`;
    return `- [${file.slice(0, 4)}](${file}) ${title ?? ''}${note}`;
  });
const index = `${HEAD}${lines.join('\n')}\n`;
if (!process.argv.includes('--check')) writeFileSync(INDEX, index);
else if (readFileSync(INDEX, 'utf8') !== index) {
  problems.push('docs/decisions/README.md is not the list of the records. Run: node scripts/index-decisions.ts');
}
for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
