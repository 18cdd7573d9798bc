import type { Client } from 'pg';
import { statementsOf } from '../src/store/migrate.ts';

/**
 * The forms of statements that Citus refused when it was tried with this schema (docs/scale.md). The store has none of
 * them, so that an installation whose schema is full can be placed on a server of its own. They are found in the trees
 * that PostgreSQL itself makes of the statements.
 */

/** A node of such a tree: its kind, and its fields. */
interface Node {
  readonly kind: string;
  readonly fields: ReadonlyMap<string, readonly Value[]>;
}
type Value = string | Node | readonly Value[];

/** A statement, and where it comes from. */
export interface Sent {
  readonly from: string;
  readonly text: string;
}

/** Functions that are not immutable, and types whose texts depend on settings, by their numbers. */
interface Impure {
  readonly functions: ReadonlyMap<string, string>;
  readonly types: ReadonlySet<string>;
  readonly tables: ReadonlySet<string>;
}

/** The statements in a refused form, each with the form, as lines. The client leads to a migrated database. */
export async function refusedStatements(client: Client, sent: readonly Sent[]): Promise<readonly string[]> {
  const impure = await readImpure(client);
  const temporary = sent.flatMap(({ text }) => /^\s*create temp(?:orary)? table (\w+)/.exec(text)?.[1] ?? []);
  let tree = '';
  client.on('notice', ({ message, detail }) => (tree += `${message}\n${detail ?? ''}\n`));
  await client.query('set log_min_messages = panic; set client_min_messages = log; set debug_print_parse = on');
  const lines: string[] = [];
  for (const { from, text } of new Map(sent.map((one) => [one.text, one])).values()) {
    tree = '';
    const form = refusedText(text, temporary, impure.tables) ?? (await refusedTree(text));
    if (form !== null) lines.push(`${from}: ${form}: ${text.replaceAll(/\s+/g, ' ').trim()}`);
  }
  return lines;

  async function refusedTree(text: string): Promise<string | null> {
    if (!/^\s*(?:with|select|insert|update|delete|merge)\b/i.test(text)) return null;
    if (temporary.some((name) => text.includes(name))) return null;
    await client.query(`prepare tried as ${text}`);
    await client.query('deallocate tried');
    return refusedQuery(queryOf(tree), impure);
  }
}

async function readImpure(client: Client): Promise<Impure> {
  const functions = await client.query<{ id: string; name: string }>(
    "select oid::text as id, proname as name from pg_proc where provolatile <> 'i'",
  );
  const types = await client.query<{ id: string }>(
    `select t.oid::text as id from pg_type t join pg_proc p on p.oid in (t.typinput, t.typoutput) where p.provolatile <> 'i'`,
  );
  const tables = await client.query<{ name: string }>(
    "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r'",
  );
  return {
    functions: new Map(functions.rows.map(({ id, name }) => [id, name])),
    types: new Set(types.rows.map(({ id }) => id)),
    tables: new Set(tables.rows.map(({ name }) => name)),
  };
}

/** The refused form of a text; null: none. */
function refusedText(text: string, temporary: readonly string[], tables: ReadonlySet<string>): string | null {
  const commands = statementsOf(text);
  if (commands.length > 1 && !commands.every((one) => /^(?:begin|set)\b/i.test(one)))
    return 'several commands in one query';
  if (/^\s*create /.test(text)) return null;
  const read = [...text.matchAll(/\b(?:from|join|update|into)\s+"?(\w+)/g)].map(([, name = '']) => name);
  return temporary.some((name) => read.includes(name)) && read.some((name) => tables.has(name))
    ? 'a temporary table beside stored ones'
    : null;
}

const CHANGES = new Set(['2', '3', '4']);
const OUTER = new Set(['1', '2', '3']);

function refusedQuery(query: Node, impure: Impure): string | null {
  const queries = [query, ...within(query)].filter(({ kind }) => kind === 'QUERY');
  const is = (node: Node, field: string, value: string): boolean => word(node, field) === value;
  const changing = queries.filter((one) => CHANGES.has(word(one, 'commandType')));
  const locks = queries.some(
    (one) => is(one, 'hasForUpdate', 'true') || within(one).some(({ kind }) => kind === 'ROWMARKCLAUSE'),
  );
  if (queries.some((one) => is(one, 'hasRecursive', 'true')) && (changing.length > 0 || locks))
    return 'a recursion in a statement that changes or locks rows';
  for (const one of changing) {
    const nodes = within(one);
    if (nodes.some((node) => nameOf(node, impure) === 'pg_notify'))
      return 'a notification in a statement that changes rows';
    if (is(one, 'commandType', '3')) {
      const read = nodes.filter(({ kind }) => kind === 'RANGETBLENTRY');
      const isOuter = nodes.some((node) => node.kind === 'JOINEXPR' && OUTER.has(word(node, 'jointype')));
      const relations = new Set(read.filter((node) => is(node, 'rtekind', '0')).map((node) => word(node, 'relid')));
      // One relation is that which gets the rows.
      if (isOuter && relations.size > 1 && read.some((node) => is(node, 'rtekind', '3')))
        return 'an insert that joins stored rows to its parameters by an outer join';
    }
    const parts = is(one, 'commandType', '3') ? ['onConflict'] : ['targetList', 'jointree'];
    const found = parts.flatMap((part) => ownNodes(one.fields.get(part) ?? [])).find((node) => isImpure(node, impure));
    if (found !== undefined) return `an update by a function of a column (${nameOf(found, impure) ?? 'a text of it'})`;
  }
  return null;
}

/** Whether the node computes something from a column that is not the same under all settings. */
function isImpure(node: Node, { functions, types }: Impure): boolean {
  const args = ownNodes([...(node.fields.get('args') ?? []), ...(node.fields.get('arg') ?? [])]);
  if (!args.some(({ kind }) => kind === 'VAR')) return false;
  if (node.kind !== 'COERCEVIAIO') return functions.has(functionOf(node));
  const [from] = args;
  return types.has(word(node, 'resulttype')) || types.has(word(from, 'vartype'));
}

/** The first word of a field; empty if there is none. */
function word(node: Node | undefined, field: string): string {
  const [first] = node?.fields.get(field) ?? [];
  return typeof first === 'string' ? first : '';
}

const functionOf = (node: Node): string => word(node, 'funcid') || word(node, 'opfuncid');
const nameOf = (node: Node, { functions }: Impure): string | undefined => functions.get(functionOf(node));

/** The nodes below a node or in a list, without those of queries within if `own`. */
function* below(values: Iterable<Value>, own: boolean): Generator<Node> {
  for (const value of values) {
    if (typeof value === 'string') continue;
    if (!('kind' in value)) yield* below(value, own);
    else if (!(own && value.kind === 'QUERY')) {
      yield value;
      for (const field of value.fields.values()) yield* below(field, own);
    }
  }
}
const within = (node: Node): readonly Node[] => [...below([...node.fields.values()].flat(), false)];
const ownNodes = (values: readonly Value[]): readonly Node[] => [...below(values, true)];

/** The tree of the prepared query: that of the command that prepares it comes first, and has no fields of tables. */
function queryOf(printed: string): Node {
  const trees = printed.split('parse tree:').flatMap((part) => {
    const start = part.indexOf('{QUERY');
    return start < 0 ? [] : [parse(part.slice(start))];
  });
  const query = trees.find((tree) => word(tree, 'commandType') !== '6');
  if (query === undefined) throw new Error('PostgreSQL printed no tree of the query.');
  return query;
}

/** Reads PostgreSQL's text of a tree: `{KIND :field value …}` and lists in parentheses. */
function parse(text: string): Node {
  const tokens = text.match(/[{}()]|(?:\\.|[^\s{}()\\])+/g) ?? [];
  let at = 0;
  const value = (): Value => {
    const token = tokens[at++] ?? '';
    if (token === '(') {
      const list: Value[] = [];
      while (at < tokens.length && tokens[at] !== ')') list.push(value());
      at += 1;
      return list;
    }
    if (token !== '{') return token;
    const kind = tokens[at++] ?? '';
    const fields = new Map<string, Value[]>();
    let field = '';
    for (; at < tokens.length && tokens[at] !== '}';) {
      const next = tokens[at] ?? '';
      if (/^:./.test(next)) {
        field = next.slice(1);
        at += 1;
      } else fields.set(field, [...(fields.get(field) ?? []), value()]);
    }
    at += 1;
    return { kind, fields };
  };
  return value() as Node;
}

const COLUMN = /\badd (?:column )?(?!constraint\b|check\b|foreign\b|primary\b|unique\b)/;
const MIGRATION_FORMS: readonly (readonly [form: string, isRefused: (statement: string) => boolean])[] = [
  [
    'a column added together with a check or a key',
    (one) =>
      /^alter table\b/.test(one) &&
      COLUMN.test(one) &&
      /\b(?:check|references|foreign key|primary key|unique)\b/.test(one),
  ],
  ['set storage', (one) => /\bset storage\b/.test(one)],
  ['a trigger', (one) => /^create (?:or replace )?(?:constraint )?trigger\b/.test(one)],
];

/** The refused forms in a migration. */
export function refusedInMigration(text: string): readonly string[] {
  const bare = (statement: string): string =>
    statement
      .replaceAll(/--.*|\/\*[^]*?\*\/|'(?:[^']|'')*'/g, '')
      .replaceAll(/\s+/g, ' ')
      .trim()
      .toLowerCase();
  return statementsOf(text)
    .map(bare)
    .flatMap((statement) =>
      MIGRATION_FORMS.flatMap(([form, isRefused]) => (isRefused(statement) ? [`${form}: ${statement}`] : [])),
    );
}
