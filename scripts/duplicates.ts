import { parseSync, Visitor } from 'rolldown/utils';

/** This many equal lines in a row are a duplicate. */
const MIN_LINES = 6;
/**
 * This many of them must differ from each other, and this many be more than data: rows of a table and cases of a switch
 * are naturally similar.
 */
const MIN_SHAPES = 4;

/** A run of lines, counted from 1. */
export interface Place {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/** Two or more places with the same lines. */
export interface Duplicate {
  readonly places: readonly Place[];
}

interface Line {
  readonly at: number;
  readonly shape: string;
  /**
   * The number of its statement in the file, from 0; no run continues into the next statement. -1: statements do not
   * matter.
   */
  readonly statement: number;
}

interface Source {
  readonly file: string;
  readonly text: string;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a file that is replaced: `n` for a name, `0` for a value. */
interface Cut extends Span {
  readonly by: '' | 'n' | '0';
}

/**
 * Finds where the same six lines occur twice: literally, or, within one statement, with other names, strings and
 * numbers.
 *
 * White space, comments, imports, `export` and variables without a value do not count. Where names are folded, types do
 * not count either, and data (`amount: 5n,`) alone are no duplicate, because little more than commas is left. The
 * tables and columns of a query are kept, because a query consists of nothing else.
 */
export function duplicatesIn(sources: readonly Source[]): readonly Duplicate[] {
  const read = sources.map(readLines);
  const exact = repeatedIn(read.map(({ file, exact }) => ({ file, lines: exact })));
  const folded = repeatedIn(read.map(({ file, folded }) => ({ file, lines: folded })));
  return [...exact, ...folded.filter((one) => !exact.some((other) => covers(other, one)))];
}

/** The lines of a file as they are, and with names and values folded. */
function readLines({ file, text }: Source) {
  const { program, comments } = parseSync(file, text);
  const unread: Cut[] = comments.map(({ start, end }) => ({ start, end, by: '' }));
  const types: Cut[] = [];
  const folds: Cut[] = [];
  const kept: Span[] = [];
  const leaveOut = ({ start, end }: Span): void => void unread.push({ start, end, by: '' });
  const leaveOutType = ({ start, end }: Span): void => void types.push({ start, end, by: '' });
  const foldName = ({ start, name }: { readonly start: number; readonly name: string }): void =>
    void folds.push({ start, end: start + name.length, by: 'n' });
  new Visitor({
    ImportDeclaration: leaveOut,
    VariableDeclaration(node) {
      if (node.declarations.every(({ init }) => init === null)) leaveOut(node);
    },
    TSInterfaceDeclaration: leaveOutType,
    TSTypeAliasDeclaration: leaveOutType,
    TSTypeAnnotation: leaveOutType,
    TSTypeParameterDeclaration: leaveOutType,
    TSTypeParameterInstantiation: leaveOutType,
    Identifier: foldName,
    PrivateIdentifier: foldName,
    JSXIdentifier: foldName,
    JSXText: ({ start, end }) => void folds.push({ start, end, by: '' }),
    Literal({ start, end, value }) {
      if (typeof value !== 'boolean' && value !== null) folds.push({ start, end, by: '0' });
    },
    TemplateElement: ({ start, end }) => void folds.push({ start, end, by: '' }),
    CallExpression({ callee, arguments: given }) {
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      if (QUERY_WORDS.has(callee.property.name)) kept.push(...given);
    },
  }).visit(program);
  const isKept = (cut: Cut): boolean => kept.some(({ start, end }) => start <= cut.start && cut.end <= end);
  const cuts = [...unread, ...types, ...folds.filter((cut) => !isKept(cut))];
  const statements = program.body.map(({ start }) => text.slice(0, start).split('\n').length);
  return { file, exact: linesOf(text, unread, []), folded: linesOf(text, cuts, statements) };
}

/** The methods of Kysely that name tables and columns. */
const QUERY_WORDS = new Set(
  `selectFrom insertInto updateTable deleteFrom innerJoin leftJoin onConflict columns column select where whereRef orderBy
  returning set`.split(/\s+/),
);

/** A line of names and values only, such as `amount: 5n,`. */
const DATA = /^(?:readonly)?[n0:,.;[\]{})]*$/;

/** The lines that are more than punctuation, with the cuts replaced. */
function linesOf(text: string, cuts: readonly Cut[], statements: readonly number[]): readonly Line[] {
  let folded = '';
  let at = 0;
  for (const { start, end, by } of cuts.toSorted((a, b) => a.start - b.start || b.end - a.end)) {
    if (start < at) continue;
    folded += text.slice(at, start) + by + text.slice(start, end).replaceAll(/[^\n]/g, '');
    at = end;
  }
  return (folded + text.slice(at))
    .split('\n')
    .map((line, index) => ({
      at: index + 1,
      shape: line.replaceAll(/^export |\s+/g, ''),
      statement: statements.findLastIndex((first) => first <= index + 1),
    }))
    .filter(({ shape }) => /\w/.test(shape));
}

/** Every longest run of lines that occurs in two places or more. */
function repeatedIn(
  files: readonly { readonly file: string; readonly lines: readonly Line[] }[],
): readonly Duplicate[] {
  const runs = new Map<string, Run[]>();
  for (const { file, lines } of files) {
    for (let from = 0; from + MIN_LINES <= lines.length; from += 1) {
      const run = lines.slice(from, from + MIN_LINES);
      const shapes = run.map(({ shape }) => shape);
      if (run.at(0)?.statement !== run.at(-1)?.statement) continue;
      if (new Set(shapes).size < MIN_SHAPES || shapes.filter((shape) => !DATA.test(shape)).length < MIN_SHAPES)
        continue;
      const key = shapes.join('\n');
      const others = runs.get(key) ?? [];
      // A run that overlaps the previous one in the same file is the same run.
      const before = others.at(-1);
      if (before?.file === file && from < before.from + MIN_LINES) continue;
      runs.set(key, [...others, { file, lines, from, length: MIN_LINES }]);
    }
  }
  const longest: Run[][] = [];
  for (const places of [...runs.values()].filter(({ length }) => length > 1)) {
    const last = longest.at(-1);
    const goesOn =
      last?.length === places.length &&
      last.every(({ file, from, length }, n) => {
        const next = places[n];
        return next?.file === file && next.from + MIN_LINES === from + length + 1;
      });
    if (goesOn) longest[longest.length - 1] = last.map((run) => ({ ...run, length: run.length + 1 }));
    else longest.push(places);
  }
  return longest.map((places) => ({ places: places.map(placeOf) }));
}

interface Run {
  readonly file: string;
  readonly lines: readonly Line[];
  readonly from: number;
  readonly length: number;
}

function placeOf({ file, lines, from, length }: Run): Place {
  return { file, first: lines[from]?.at ?? 0, last: lines[from + length - 1]?.at ?? 0 };
}

/** Whether a duplicate contains another one, which is then left out. */
function covers(whole: Duplicate, part: Duplicate): boolean {
  return part.places.every(({ file, first, last }) =>
    whole.places.some((place) => place.file === file && place.first <= first && last <= place.last),
  );
}
