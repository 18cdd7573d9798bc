import { sql } from 'kysely';
import { PAYMENT_APIS } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { Database, Trx } from '../database.ts';
import { PAYMENTS } from '../schema/payments.ts';
import { anyOf } from './amount-steps.ts';
import {
  filtersBesideTerms,
  withinScope,
  type Condition,
  type IndexScan,
  type PaymentSearch,
} from './payment-filter.ts';
import { HAS_ENDED, IS_RUNNING, withKey } from './payment-keys.ts';
import { alongWords, onLabel, onNote, onRow, type SearchTerm } from './search-words.ts';

/** Filters read any of them. Named, so that a newer version can add one (docs/decisions/0081). */
const EVERY_COLUMN = sql.join(Object.keys(PAYMENTS.columns).map((name) => sql.id(name)));

/** A search by text. */
export type TermSearch = PaymentSearch & { readonly terms: readonly SearchTerm[] };

/** A term, and where it stands beside the payment's own texts. */
interface Placed {
  readonly term: SearchTerm;
  /** Labels with the term's words. */
  readonly labels: readonly string[];
  /** The conditions on payments that the term finds by a key or a note. */
  readonly others: readonly Condition[];
}

/** A term, and whether few of the newest payments match it. */
interface Counted extends Placed {
  readonly isRare: boolean;
}

/**
 * Words that many payments have are found among this many of the newest ones of each API, and others by the index of
 * words, which knows no order: it reads every payment with the words before it can name the newest.
 */
const MAX_NEAR = 1_000;
/**
 * Beside a term that at most this many of the newest payments match, other terms are compared with the payments that
 * the index finds by that term: the index would read all payments that have any of them.
 */
const MAX_RARE = 20;
/** Notes of this many payments are searched for each term: the newest. */
const MAX_NOTED = 1_000;
/** Terms beyond these are searched for in the payments' own texts alone. */
const MAX_PLACED = 3;

/** The newest ids of payments that have all terms, before `after`. */
export async function idsByTerms(
  db: Database | Trx,
  scope: ProjectMode,
  search: TermSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly string[]> {
  if (search.terms.length === 0) return [];
  const { ids, counted } = await nearOf(db, scope, search, page);
  if (ids.length >= page.limit) return ids;
  const each = wordScans(scope, counted, filtersBesideTerms(scope, search, page.after)).map(
    ({ source, conditions }) =>
      sql`(select id from ${source} where ${allOf(conditions)} order by id desc limit ${page.limit})`,
  );
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(each, sql` union `)}) found order by id desc limit ${page.limit}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Scans that together find all payments of a search, some of them several times. */
export async function scansByTerms(
  db: Database,
  scope: ProjectMode,
  search: TermSearch,
): Promise<readonly IndexScan[]> {
  if (search.terms.length === 0) return [];
  const { counted } = await nearOf(db, scope, search, { after: null, limit: 0 });
  return wordScans(scope, counted, filtersBesideTerms(scope, search, null));
}

/** The newest payments of a search among the newest of the scope, and how many of those match each term. */
async function nearOf(
  db: Database | Trx,
  scope: ProjectMode,
  search: TermSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<{ readonly ids: readonly string[]; readonly counted: readonly Counted[] }> {
  const placed = await placesOf(db, scope, search.terms);
  const filters = sql`${allOf(filtersBesideTerms(scope, search, page.after))} as fits`;
  const matched = placed.map((one, index) => sql`${onRowOrElsewhere(one)} as ${sql.id(`has_${index}`)}`);
  const names = placed.map((_one, index) => sql.id(`has_${index}`));
  const newest = PAYMENT_APIS.map(
    (api) => sql`(select id, ${sql.join([filters, ...matched])} from (
      select ${EVERY_COLUMN} from payments where ${allOf(withinScope(scope, search, page.after))} and surface = ${api}
      order by id desc limit ${MAX_NEAR}) payments)`,
  );
  const counts = names.map((name) => sql`(select count(*) from near where ${name})`);
  const { rows } = await sql<{ ids: readonly string[]; counts: readonly number[] }>`
    with near as materialized (${sql.join(newest, sql` union all `)})
    select array(select id from near where fits and ${allOf(names)} order by id desc limit ${page.limit})::text[] as ids,
      array[${sql.join(counts)}]::integer[] as counts`.execute(db);
  const { ids = [], counts: found = [] } = rows[0] ?? {};
  return { ids, counted: placed.map((one, index) => ({ ...one, isRare: (found[index] ?? 0) <= MAX_RARE })) };
}

/** The condition on a payment that is read anyway. */
export function matchesTerms(terms: readonly SearchTerm[], scope: ProjectMode): Condition {
  if (terms.length === 0) return sql`false`;
  return allOf(
    terms.map((term) =>
      anyOf([
        onRow(term),
        ...term.keys.map(withKey),
        sql`id in (select payment_id from payment_notes where ${onNote(term)})`,
        sql`id in (select payment_id from payment_labels where label_id in (
          select id from labels where project_id = ${scope.projectId} and ${onLabel(term)}))`,
      ]),
    ),
  );
}

/** Looks for the terms in labels and notes. Most are in none. */
async function placesOf(
  db: Database | Trx,
  { projectId, mode }: ProjectMode,
  terms: readonly SearchTerm[],
): Promise<readonly Placed[]> {
  const each = terms.map(
    (term, index) => sql`select ${sql.lit(index)} as index,
      array(select id from labels where project_id = ${projectId} and ${onLabel(term)})::text[] as labels,
      array(select p.id from (select payment_id from payment_notes where ${onNote(term)}) n join payments p on p.id = n.payment_id
        where p.project_id = ${projectId} and p.mode = ${mode} order by p.id desc limit ${MAX_NOTED})::text[] as noted`,
  );
  const { rows } = await sql<{ index: number; labels: readonly string[]; noted: readonly string[] }>`
    ${sql.join(each, sql` union all `)}`.execute(db);
  const places = new Map(rows.map((row) => [row.index, row]));
  return terms.map((term, index) => {
    const { labels = [], noted = [] } = places.get(index) ?? {};
    const byNote = noted.length === 0 ? [] : [sql`id = any (${noted}::uuid[])`];
    return { term, labels, others: [...term.keys.map(withKey), ...byNote] };
  });
}

const allOf = (conditions: readonly Condition[]): Condition => sql.join(conditions, sql` and `);

/** The conditions on payments that have a term elsewhere than in their own texts. */
function elsewhere({ labels, others }: Placed): readonly Condition[] {
  if (labels.length === 0) return others;
  const labelled = sql`exists (select from payment_labels where payment_id = payments.id and label_id = any (${labels}::uuid[]))`;
  return [...others, labelled];
}

function onRowOrElsewhere(one: Placed): Condition {
  return anyOf([onRow(one.term), ...elsewhere(one)]);
}

/** Conditions on ended payments that have terms in their own texts. */
function inTexts(counted: readonly Counted[], scope: ProjectMode): readonly Condition[] {
  const rare = counted.filter(({ isRare }) => isRare);
  const [indexed, others] = rare.length === 0 ? [counted, []] : [rare, counted.filter(({ isRare }) => !isRare)];
  const terms = indexed.map(({ term }) => term);
  return [HAS_ENDED, ...alongWords(terms, scope), ...others.map(({ term }) => onRow(term))];
}

/** Ended payments by the index of words, the others by their status, and those that have a term elsewhere. */
function wordScans(
  scope: ProjectMode,
  counted: readonly Counted[],
  conditions: readonly Condition[],
): readonly IndexScan[] {
  // With an order inside, the planner would walk the whole primary key.
  const unordered = (own: readonly Condition[]): IndexScan => ({
    source: sql`(select id from payments where ${allOf([...conditions, ...own])} offset 0) payments`,
    conditions: [sql`true`],
  });
  const groups = groupsOf(counted.filter((one) => elsewhere(one).length > 0).slice(0, MAX_PLACED));
  return [
    unordered(inTexts(counted, scope)),
    unordered([IS_RUNNING, ...counted.map(onRowOrElsewhere)]),
    ...groups.flatMap((group) => {
      const rest = counted.filter((one) => !group.includes(one));
      const found = group.map((one) => anyOf(elsewhere(one)));
      if (rest.length > 0) return [unordered([...inTexts(rest, scope), ...found])];
      return alongPlaces(group, scope).map((source) => ({ source, conditions: [...conditions, ...found] }));
    }),
  ];
}

/** Each group of some of these, none empty. */
function groupsOf(all: readonly Counted[]): readonly (readonly Counted[])[] {
  return all.reduce<readonly (readonly Counted[])[]>(
    (groups, one) => [...groups, [one], ...groups.map((group) => [...group, one])],
    [],
  );
}

/** The payments that have the first term of a group elsewhere, along the index of each place. */
function alongPlaces([first]: readonly Placed[], { mode }: ProjectMode): readonly Condition[] {
  if (first === undefined) return [];
  const byLabel = first.labels.map(
    (label) => sql`(select payment_id from payment_labels where label_id = ${label}::uuid and mode = ${mode}
      order by payment_id desc) labelled join payments on payments.id = labelled.payment_id`,
  );
  return [
    ...first.others.map((other) => sql`(select ${EVERY_COLUMN} from payments where ${other}) payments`),
    ...byLabel,
  ];
}
