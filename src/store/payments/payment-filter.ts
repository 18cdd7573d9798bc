import { sql, type RawBuilder } from 'kysely';
import type { AssetCode } from '../../domain/asset-code.ts';
import { firstUuidOf } from '../../domain/id.ts';
import type { Network } from '../../domain/networks.ts';
import { PAYMENT_APIS, type Exception, type PaymentApi } from '../../domain/payment.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentStatus } from '../../domain/status.ts';
import { AMOUNT_STEP, amountCondition, amountSteps, anyOf, type AmountRange } from './amount-steps.ts';
import {
  ADDRESS,
  ENDED_STATUSES,
  HAS_ENDED,
  HAS_ENDED_WITH_ADDRESS,
  IS_RUNNING,
  RUNNING_STATUSES,
} from './payment-keys.ts';
import type { SearchTerm } from './search-words.ts';

/** The payments to find; null fields do not restrict. Times in epoch milliseconds, from inclusive, before exclusive. */
export interface PaymentSearch {
  readonly statuses: readonly PaymentStatus[] | null;
  readonly exceptions: readonly Exception[] | null;
  readonly api: PaymentApi | null;
  readonly tokens: readonly { readonly asset: AssetCode; readonly network: Network }[] | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
  /** Payments within any of these ranges. */
  readonly amounts: readonly AmountRange[] | null;
  /** The name of one of the project's labels, ignoring case. */
  readonly label: string | null;
  /** The whole e-mail address of a customer, ignoring case. */
  readonly customerEmail: string | null;
  /** The ids of payments that a person chose one by one. */
  readonly ids: readonly string[] | null;
  /** Payments with all of these terms; none if there are no terms. */
  readonly terms: readonly SearchTerm[] | null;
}

export const NO_FILTERS: PaymentSearch = {
  statuses: null,
  exceptions: null,
  api: null,
  tokens: null,
  createdFrom: null,
  createdBefore: null,
  amounts: null,
  label: null,
  customerEmail: null,
  ids: null,
  terms: null,
};

export type Condition = RawBuilder<unknown>;

/** One index scan, newest payment first. The result of a search is the merge of all its scans. */
export interface IndexScan {
  /** The table or subquery, called `payments`, that is read; possibly with joins. */
  readonly source: Condition;
  readonly conditions: readonly Condition[];
}

/** The index scans that find the payments of a search, each of them once. */
export interface IndexScans {
  readonly indexScans: readonly IndexScan[];
  /** The amount condition, which the index scans leave out because a page may look for it along an index of its own. */
  readonly amount: Condition | null;
}

/** Beyond this many index scans, one scan is used instead, along the index that the planner chooses. */
const MAX_INDEX_SCANS = 64;

/** The conditions that every payment of a scope must meet, besides those of the search. */
export function withinScope(
  { projectId, mode }: ProjectMode,
  { createdFrom, createdBefore }: Pick<PaymentSearch, 'createdFrom' | 'createdBefore'>,
  after: string | null,
): readonly Condition[] {
  return [
    sql`project_id = ${projectId}`,
    sql`mode = ${mode}`,
    ...idBounds(sql`id`, { createdFrom, createdBefore }, after),
  ];
}

/** Bounds of a payment's id, which begins with the time of its creation. */
function idBounds(
  id: Condition,
  { createdFrom, createdBefore }: Pick<PaymentSearch, 'createdFrom' | 'createdBefore'>,
  after: string | null,
): readonly Condition[] {
  return [
    ...(createdFrom === null ? [] : [sql`${id} >= ${firstUuidOf(createdFrom)}::uuid`]),
    ...(createdBefore === null ? [] : [sql`${id} < ${firstUuidOf(createdBefore)}::uuid`]),
    ...(after === null ? [] : [sql`${id} < ${after}::uuid`]),
  ];
}

/** The index scans of a search without terms in a scope, for payments with ids before `after`. */
export function indexScansOf(
  scope: ProjectMode,
  search: Omit<PaymentSearch, 'terms'>,
  after: string | null,
): IndexScans {
  const { statuses, exceptions, api, tokens, label } = search;
  const status = (statuses ?? []).map(withStatus);
  const apis = (api === null ? PAYMENT_APIS : [api]).map((one) => sql`surface = ${one}`);
  const token = (tokens ?? []).map(
    (one) => sql`network is not null and network = ${one.network} and asset = ${one.asset}`,
  );
  // Repeats the partial index's predicate: the planner cannot derive it from a parameter.
  const exception = (exceptions ?? []).map((one) => sql`exception <> 'none' and exception = ${one}`);
  const within = withinScope(scope, search, after);
  const source = label === null ? sql`payments` : labelled(label, scope, search, after);
  const plain = (indexScans: readonly (readonly Condition[])[]): IndexScans => ({
    indexScans: indexScans.map((own) => ({ source, conditions: [...within, ...own] })),
    amount: null,
  });
  if (label !== null || search.ids !== null) return plain([conditionsBut(search, [])]);
  if (search.customerEmail !== null) {
    const own = conditionsBut(search, []);
    return plain([
      [HAS_ENDED_WITH_ADDRESS, ...own],
      [IS_RUNNING, ...own],
    ]);
  }
  if (exceptions !== null && !exceptions.includes('none')) {
    const others = conditionsBut(search, ['exceptions']);
    return plain(exception.map((one) => [one, ...others]));
  }
  const amount = search.amounts === null ? null : amountCondition(search.amounts);
  return { ...plain(byStatusAndToken()), amount };

  function byStatusAndToken(): readonly (readonly Condition[])[] {
    const others = conditionsBut(search, ['statuses', 'api', 'amounts']);
    if (tokens !== null) {
      const along = byToken(token, statuses, apis, conditionsOf(search, ['statuses', 'api']));
      const besideToken = conditionsBut(search, ['statuses', 'api', 'tokens', 'amounts']);
      return [
        ...along.ended.map((own) => [HAS_ENDED, ...own, ...besideToken]),
        ...along.running.map((own) => [...own, ...others]),
      ];
    }
    const indexScans = statuses === null ? apis.map((one) => [one]) : product(apis, status);
    return indexScans.map((own) => [...own, ...others]);
  }
}

/** The filters that are conditions on a single payment and work along any index. */
type PlainFilter = Exclude<keyof PaymentSearch, 'createdFrom' | 'createdBefore' | 'label' | 'terms'>;

const CONDITIONS: {
  readonly [Name in PlainFilter]: (wanted: NonNullable<PaymentSearch[Name]>) => Condition;
} = {
  statuses: (statuses) => sql`status = any (${statuses}::text[])`,
  exceptions: (exceptions) => sql`exception = any (${exceptions}::text[])`,
  api: (api) => sql`surface = ${api}`,
  tokens: (tokens) => anyOf(tokens.map(({ asset, network }) => sql`(network = ${network} and asset = ${asset})`)),
  amounts: (ranges) => amountCondition(ranges),
  customerEmail: (email) => sql`${ADDRESS} = lower(${email}::text)`,
  ids: (ids) => sql`id = any (${ids}::uuid[])`,
};
const PLAIN_FILTERS = Object.keys(CONDITIONS).filter((name): name is PlainFilter => Object.hasOwn(CONDITIONS, name));

/** All conditions of a search except its terms. */
export function filtersBesideTerms(
  scope: ProjectMode,
  search: PaymentSearch,
  after: string | null,
): readonly Condition[] {
  const ofLabel = search.label === null ? [] : [hasLabel(search.label, scope)];
  return [...withinScope(scope, search, after), ...conditionsBut(search, []), ...ofLabel];
}

/** All conditions of a search except those of these filters. */
function conditionsBut(
  search: Pick<PaymentSearch, PlainFilter>,
  without: readonly PlainFilter[],
): readonly Condition[] {
  return conditionsOf(
    search,
    PLAIN_FILTERS.filter((name) => !without.includes(name)),
  );
}

function conditionsOf(search: Pick<PaymentSearch, PlainFilter>, names: readonly PlainFilter[]): readonly Condition[] {
  return names.flatMap((name) => conditionOf(search, name));
}

function conditionOf<Name extends PlainFilter>(search: Pick<PaymentSearch, Name>, name: Name): readonly Condition[] {
  const wanted = search[name];
  return wanted === null ? [] : [CONDITIONS[name](wanted)];
}

/** Ended payments along the index of tokens, or that of statuses where both are given; the others by status. */
function byToken(
  token: readonly Condition[],
  statuses: readonly PaymentStatus[] | null,
  apis: readonly Condition[],
  others: readonly Condition[],
): Readonly<Record<'ended' | 'running', readonly (readonly Condition[])[]>> {
  const chosen = (all: readonly PaymentStatus[]) =>
    all.filter((one) => statuses?.includes(one) ?? true).map(withStatus);
  const ended = chosen(ENDED_STATUSES);
  const across = statuses === null ? [] : product(apis, ended, token);
  const isAcross = across.length > 0 && across.length <= MAX_INDEX_SCANS;
  return {
    ended: isAcross ? across : token.map((one) => [one, ...others]),
    running: product(apis, chosen(RUNNING_STATUSES)),
  };
}

const withStatus = (one: PaymentStatus): Condition => sql`status = ${one}`;

const labelIn = (label: string, { projectId }: ProjectMode): Condition =>
  sql`(select id from labels where project_id = ${projectId} and lower(name) = lower(${label}))`;

function hasLabel(label: string, scope: ProjectMode): Condition {
  return sql`exists (select from payment_labels where payment_id = payments.id and label_id = ${labelIn(label, scope)})`;
}

/** The payments with a label, in the order of their ids. */
function labelled(
  label: string,
  scope: ProjectMode,
  within: Pick<PaymentSearch, 'createdFrom' | 'createdBefore'>,
  after: string | null,
): Condition {
  const wanted = [
    sql`label_id = ${labelIn(label, scope)}`,
    sql`mode = ${scope.mode}`,
    ...idBounds(sql`payment_id`, within, after),
  ];
  return sql`(select payment_id from payment_labels where ${sql.join(wanted, sql` and `)} order by payment_id desc) labelled
    join payments on payments.id = labelled.payment_id`;
}

/**
 * The newest ids of payments within amounts: ended ones along their index, with at most 820 steps for each currency
 * that the project has payments in.
 */
export function alongAmounts(
  scope: ProjectMode,
  search: PaymentSearch,
  page: { readonly after: string | null; readonly limit: number },
): Condition {
  const ranges = search.amounts ?? [];
  const own = sql`project_id = ${scope.projectId} and mode = ${scope.mode}`;
  const all = sql.join([...withinScope(scope, search, page.after), ...conditionsBut(search, ['amounts'])], sql` and `);
  // Sorted outside of the subquery: with `order by id` inside, the planner would walk the whole primary key.
  const running = sql`select id from payments where ${all} and ${IS_RUNNING} and ${amountCondition(ranges)}`;
  const parts = ranges.map(
    (range) => sql`select found.id
      from (
        select currency from unnest(${range.currencies}::text[]) currency
        where exists (select from payments where ${own} and ${HAS_ENDED} and payments.currency = currency.currency)
      ) used
      cross join unnest(${amountSteps(range)}::integer[]) step
      cross join lateral (
        select id from payments where currency = used.currency and ${AMOUNT_STEP} = step
          and amount_minor between ${range.fromMinor} and ${range.toMinor} and ${HAS_ENDED} and ${all}
        order by id desc limit ${page.limit}
      ) found`,
  );
  return sql`select id from (${sql.join([...parts, running], sql` union `)}) found order by id desc limit ${page.limit}`;
}

/** The cartesian product of conditions. */
function product(...parts: readonly (readonly Condition[])[]): readonly (readonly Condition[])[] {
  return parts.reduce<readonly (readonly Condition[])[]>(
    (sofar, part) => sofar.flatMap((own) => part.map((one) => [...own, one])),
    [[]],
  );
}
