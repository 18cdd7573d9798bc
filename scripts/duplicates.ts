import { parseSync, Visitor } from 'rolldown/utils';

/** So many lines in a row that are equal are a duplicate. */
const MIN_LINES = 6;
/** Among them so many of different shape: rows of a table and cases of a switch are alike by nature. */
const MIN_SHAPES = 4;

/** A run of lines, both counted from 1. */
export interface Place {
  readonly file: string;
  readonly first: number;
  readonly last: number;
}

/** Places that hold the same lines: two or more. */
export interface Duplicate {
  readonly places: readonly Place[];
}

interface Line {
  readonly at: number;
  readonly shape: string;
  /** Which statement of the file it is in: a run of equal shapes does not go on into the next. */
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

interface Cut extends Span {
  readonly by: '' | 'n' | '0';
}

/**
 * Where the same six lines stand twice: to the letter, or with other names, strings and numbers. White space, comments and
 * imports do not count. Where names are folded, neither do types and data (`amount: 5n,`), which are nothing but
 * names and values, and the tables and columns of a query are kept: a query says with them alone what it does.
 */
export function duplicatesIn(sources: readonly Source[]): readonly Duplicate[] {
  const exact: (readonly [string, readonly Line[]])[] = [];
  const folded: (readonly [string, readonly Line[]])[] = [];
  for (const { file, text } of sources) {
    const { program, comments } = parseSync(file, text);
    const unread: Cut[] = comments.map(({ start, end }) => ({ start, end, by: '' }));
    const cuts: Cut[] = [...unread];
    const drop = ({ start, end }: Span): void => {
      cuts.push({ start, end, by: '' });
    };
    const foldName = ({ start, name }: { readonly start: number; readonly name: string }): void => {
      cuts.push({ start, end: start + name.length, by: 'n' });
    };
    const kept: Span[] = [];
    new Visitor({
      Identifier: foldName,
      PrivateIdentifier: foldName,
      TemplateElement: drop,
      TSTypeAnnotation: drop,
      TSTypeParameterInstantiation: drop,
      TSTypeParameterDeclaration: drop,
      TSInterfaceDeclaration: drop,
      TSTypeAliasDeclaration: drop,
      ImportDeclaration(node) {
        drop(node);
        unread.push({ start: node.start, end: node.end, by: '' });
      },
      CallExpression({ callee, arguments: given }) {
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
        if (QUERY_WORDS.has(callee.property.name)) kept.push(...given);
      },
      Literal({ start, end, value }) {
        if (typeof value !== 'boolean' && value !== null) cuts.push({ start, end, by: '0' });
      },
    }).visit(program);
    const statements = program.body.map(({ start }) => text.slice(0, start).split('\n').length);
    exact.push([file, linesOf(text, unread, [])]);
    const isKept = (cut: Cut): boolean =>
      cut.by !== '' && kept.some(({ start, end }) => start <= cut.start && cut.end <= end);
    folded.push([
      file,
      linesOf(
        text,
        cuts.filter((cut) => !isKept(cut)),
        statements,
      ),
    ]);
  }
  const same = repeatedIn(exact);
  return [...same, ...repeatedIn(folded).filter((one) => !same.some((other) => covers(other, one)))];
}

/** What names tables and columns in a query of Kysely. */
const QUERY_WORDS = new Set(
  `selectFrom insertInto updateTable deleteFrom innerJoin leftJoin onConflict columns column select where whereRef orderBy
  returning set`.split(/\s+/),
);

/** A line of names and values alone, such as `amount: 5n,`. */
const DATA = /^(?:readonly)?[n0:,.;[\]{})]*$/;

/** The lines that are more than punctuation, with what is cut out of them replaced. */
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
      shape: line.replaceAll(/\s+/g, ''),
      statement: statements.findLastIndex((first) => first <= index + 1),
    }))
    .filter(({ shape }) => /\w/.test(shape));
}

/** Every longest run of lines that stands in two places or more. */
function repeatedIn(files: readonly (readonly [string, readonly Line[]])[]): readonly Duplicate[] {
  const runs = new Map<string, Run[]>();
  for (const [file, lines] of files) {
    for (let from = 0; from + MIN_LINES <= lines.length; from += 1) {
      const run = lines.slice(from, from + MIN_LINES);
      const shapes = run.map(({ shape }) => shape);
      if (run.at(0)?.statement !== run.at(-1)?.statement) continue;
      if (new Set(shapes).size < MIN_SHAPES || shapes.filter((shape) => !DATA.test(shape)).length < MIN_SHAPES)
        continue;
      const key = shapes.join('\n');
      const others = runs.get(key) ?? [];
      // A run that overlaps the one before it in the same file is that one again.
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

/** Whether a duplicate holds all that another one does, and so says it already. */
function covers(whole: Duplicate, part: Duplicate): boolean {
  return part.places.every(({ file, first, last }) =>
    whole.places.some((place) => place.file === file && place.first <= first && last <= place.last),
  );
}
