import { existsSync, globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ROOMS } from './rooms.ts';

/**
 * Writes the lists of design documents and of decisions from the documents themselves. With `--check` it only reports
 * outdated lists, rooms that no design document describes, and named files that do not exist.
 */
const ROOT = path.join(import.meta.dirname, '..');
const STATUS = /^\*\*Status:\*\* (in force|changed by .*\d{4}.*|replaced by \d{4})\.$/m;
const problems: string[] = [];

const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');
const filesIn = (folder: string): readonly string[] =>
  readdirSync(path.join(ROOT, folder))
    .filter((file) => file.endsWith('.md') && file !== 'README.md')
    .toSorted();

/** The entries of a line at the head of a design document, such as `**Rooms:** `domain`, `wire`.` */
function listedIn(file: string, label: 'Rooms' | 'Records'): readonly string[] {
  const line = new RegExp(`^\\*\\*${label}:\\*\\* (.+)$`, 'm').exec(read(file))?.[1] ?? '';
  return [...line.matchAll(/[\w/-]+/g)].map(([name]) => name);
}

function titleOf(file: string): string {
  const title = /^# (.+)$/m.exec(read(file))?.[1];
  if (title === undefined) problems.push(`${file} has no title.`);
  return title ?? '';
}

function roomsOf(file: string): string {
  const rooms = listedIn(file, 'Rooms');
  return rooms.length === 0 ? '' : `: ${rooms.join(', ')}`;
}

const designs = filesIn('docs/design').map((name) => ({ name, file: `docs/design/${name}` }));

const designIndex = `# Design

How each part of Cointill is designed and why. Each document ends with a table of the ways that were tried and rejected,
with the figures. Decisions that cut across all parts are in [decisions](../decisions/README.md).
\`node scripts/index-decisions.ts\` writes this list.

${designs.map(({ name, file }) => `- [${titleOf(file)}](${name})${roomsOf(file)}`).join('\n')}
`;

const records = filesIn('docs/decisions').map((name) => {
  const file = `docs/decisions/${name}`;
  const status = STATUS.exec(read(file))?.[1];
  if (status === undefined) {
    problems.push(`${file} has no "**Status:** in force." (or changed by, or replaced by a number).`);
  }
  const note = status === 'in force' ? '' : ` (${status ?? 'without a status'})`;
  return `- [${name.slice(0, 4)}](${name}) ${titleOf(file)}${note}`;
});

const moved = designs.flatMap(({ name, file }) => {
  const numbers = listedIn(file, 'Records');
  return numbers.length === 0 ? [] : [`- [${name}](../design/${name}): ${numbers.join(', ')}`];
});

const decisionIndex = `# Decisions

What the specification leaves open and was decided. A decision about one part stands in the [design document](../design/README.md)
of that part. A record here cuts across several parts: what was open, what was chosen and what was rejected, with figures. A record is
**in force**, **changed by** a later one in part, or **replaced**. \`node scripts/index-decisions.ts\` writes this list.

${records.join('\n')}

## Numbers that moved into design documents

${moved.join('\n')}
`;

for (const [file, text] of [
  ['docs/design/README.md', designIndex],
  ['docs/decisions/README.md', decisionIndex],
] as const) {
  if (!process.argv.includes('--check')) writeFileSync(path.join(ROOT, file), text);
  else if (read(file) !== text) problems.push(`${file} is not up to date. Run: node scripts/index-decisions.ts`);
}

const described = new Set(designs.flatMap(({ file }) => listedIn(file, 'Rooms')));
for (const room of Object.keys(ROOMS)) {
  if (!described.has(room)) problems.push(`No design document names the room ${room} in its line of rooms.`);
}

/** A file of the repository, or a folder, in backticks: by its whole path or by the end of it. */
const NAMED = /`(?<name>[\w-][\w./-]*(?:\.(?:ts|tsx|js|md|sql|sh|json|yml|css)|\/))`/g;
const there = globSync('{src,web,test}/**', { cwd: ROOT, exclude: ['web/dist/**'] }).map((name) => `/${name}`);
for (const file of [
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  ...globSync('docs/{design,decisions,how-to}/*.md', { cwd: ROOT }),
]) {
  for (const { groups } of read(file).matchAll(NAMED)) {
    // A script for browsers is written in TypeScript.
    const name = (groups?.['name'] ?? '').replace(/\/$/, '');
    const ends = [`/${name}`, `/${name.replace(/\.js$/, '.ts')}`];
    const isThere = existsSync(path.join(ROOT, name)) || there.some((one) => ends.some((end) => one.endsWith(end)));
    // NAME in a guide is for the reader to fill in.
    if (!isThere && !/[A-Z]{4}/.test(name)) problems.push(`${file} names ${name}, which does not exist.`);
  }
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exit(1);
