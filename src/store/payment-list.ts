import { sql, type RawBuilder, type SqlBool } from 'kysely';
import type { AssetCode } from '../domain/asset.ts';
import { firstUuidOf } from '../domain/id.ts';
import type { Network } from '../domain/networks.ts';
import { SURFACES, type Exception, type Payment, type Surface } from '../domain/payment.ts';
import type { Mode } from '../domain/permission.ts';
import type { PaymentStatus } from '../domain/status.ts';
import type { Database } from './database.ts';
import { findPayments } from './payments.ts';

/** What people look for. Whole texts; that of an e-mail address in any case. */
export type PaymentKey =
  | { readonly kind: 'id'; readonly id: string; readonly surface: Surface }
  | { readonly kind: 'number' | 'order_id' | 'email'; readonly text: string };

/** Which payments; null does not narrow. Times in epoch milliseconds, from inclusive, before exclusive. */
export interface PaymentSearch {
  readonly statuses: readonly PaymentStatus[] | null;
  readonly exceptions: readonly Exception[] | null;
  readonly surface: Surface | null;
  readonly tokens: readonly { readonly asset: AssetCode; readonly network: Network }[] | null;
  readonly createdFrom: number | null;
  readonly createdBefore: number | null;
  /** Any of them. */
  readonly keys: readonly PaymentKey[] | null;
}

type Condition = RawBuilder<unknown>;

/** More strands than this are read as one instead, along whichever index the database takes. */
const MAX_STRANDS = 64;

/**
 * One page of a project's payments of both APIs, the newest first: those with ids before `after`. Each status, token or
 * exception is read along its own index, newest first, and the strands are merged, so that a page costs the same at any
 * depth.
 */
export async function searchPayments(
  db: Database,
  scope: { readonly projectId: string; readonly mode: Mode },
  search: PaymentSearch,
  page: { readonly after: string | null; readonly limit: number },
): Promise<readonly Payment[]> {
  const ofAll = [
    sql`project_id = ${scope.projectId}`,
    sql`mode = ${scope.mode}`,
    ...(search.createdFrom === null ? [] : [sql`id >= ${firstUuidOf(search.createdFrom)}::uuid`]),
    ...(search.createdBefore === null ? [] : [sql`id < ${firstUuidOf(search.createdBefore)}::uuid`]),
    ...(page.after === null ? [] : [sql`id < ${page.after}::uuid`]),
  ];
  const strands = strandsOf(search).map(
    (own) => sql`(select id from payments where ${sql.join([...ofAll, ...own], sql` and `)}
      order by id desc limit ${page.limit})`,
  );
  if (strands.length === 0) return [];
  // What is looked for may be found by two keys.
  const { rows } = await sql<{ id: string }>`
    select id from (${sql.join(strands, sql` union `)}) page order by id desc limit ${page.limit}`.execute(db);
  const payments = await findPayments(
    db,
    rows.map((row) => row.id),
  );
  const byId = new Map(payments.map((payment) => [payment.id, payment]));
  return rows.flatMap((row) => byId.get(row.id) ?? []);
}

/** Conditions of each strand, any of which a payment has to meet. */
function strandsOf({ statuses, exceptions, surface, tokens, keys }: PaymentSearch): readonly (readonly Condition[])[] {
  const status = (statuses ?? []).map((one) => sql`status = ${one}`);
  const surfaces = (surface === null ? SURFACES : [surface]).map((one) => sql`surface = ${one}`);
  const token = (tokens ?? []).map(
    (one) => sql`network is not null and network = ${one.network} and asset = ${one.asset}`,
  );
  // As the index says it, which a plan for any exception could not know.
  const exception = (exceptions ?? []).map((one) => sql`exception <> 'none' and exception = ${one}`);
  const filters = {
    status: statuses === null ? [] : [anyOf(status)],
    surface: surface === null ? [] : [sql`surface = ${surface}`],
    token: tokens === null ? [] : [anyOf(token)],
    exception: exceptions === null ? [] : [sql`exception = any (${exceptions}::text[])`],
  };
  if (keys !== null) {
    const all = [...filters.status, ...filters.surface, ...filters.token, ...filters.exception];
    return keys.map((key) => [keyCondition(key), ...all]);
  }
  if (exceptions !== null && !exceptions.includes('none')) {
    return exception.map((one) => [one, ...filters.status, ...filters.surface, ...filters.token]);
  }
  if (tokens !== null) {
    const across = statuses === null ? [] : product(surfaces, status, token);
    if (across.length > 0 && across.length <= MAX_STRANDS) return across.map((own) => [...own, ...filters.exception]);
    return token.map((one) => [one, ...filters.status, ...filters.surface, ...filters.exception]);
  }
  const strands = statuses === null ? surfaces.map((one) => [one]) : product(surfaces, status);
  return strands.map((own) => [...own, ...filters.exception]);
}

function keyCondition(key: PaymentKey): Condition {
  switch (key.kind) {
    case 'id':
      return sql`id = ${key.id}::uuid and surface = ${key.surface}`;
    case 'number':
      return sql`transaction_number = ${key.text}`;
    case 'order_id':
      return sql`merchant_order_id = ${key.text}`;
    case 'email':
      return sql`lower(customer_email) = lower(${key.text})`;
  }
}

function anyOf(conditions: readonly Condition[]): Condition {
  return conditions.length === 0 ? sql`false` : sql`(${sql.join(conditions, sql` or `)})`;
}

/** Each of the first with each of the second, and so on. */
function product(...parts: readonly (readonly Condition[])[]): readonly (readonly Condition[])[] {
  return parts.reduce<readonly (readonly Condition[])[]>(
    (sofar, part) => sofar.flatMap((own) => part.map((one) => [...own, one])),
    [[]],
  );
}

/** Of whose payments somebody wants to hear. */
export interface PaymentScopeKey {
  readonly projectId: string;
  readonly mode: Mode;
}

/** A payment and whose it is. */
export interface OwnedPayment extends PaymentScopeKey {
  readonly id: string;
  readonly surface: Surface;
}

/** Whose these payments are; unknown ids are left out. */
export async function findOwners(db: Database, ids: readonly string[]): Promise<readonly OwnedPayment[]> {
  const rows = await db
    .selectFrom('payments')
    .select(['id', 'project_id', 'mode', 'surface'])
    .where(sql<SqlBool>`id = any (${ids}::uuid[])`)
    .execute();
  return rows.map(({ project_id: projectId, ...row }) => ({ ...row, projectId }));
}

/** The newest payments of each scope that were created from a time on, at most `limit` of each. */
export async function newestPayments(
  db: Database,
  scopes: readonly PaymentScopeKey[],
  createdFrom: number,
  limit: number,
): Promise<readonly OwnedPayment[]> {
  const strand = (surface: Surface) => sql`(select id, surface from payments
    where project_id = wanted.project_id and mode = wanted.mode and surface = ${surface} and id >= ${firstUuidOf(createdFrom)}::uuid
    order by id desc limit ${limit})`;
  const wanted = scopes.map(({ projectId, mode }) => ({ project_id: projectId, mode }));
  const { rows } = await sql<OwnedPayment>`
    select newest.id, newest.surface, wanted.project_id as "projectId", wanted.mode
    from json_to_recordset(${JSON.stringify(wanted)}::json) as wanted (project_id uuid, mode text)
    cross join lateral (
      select id, surface from (${sql.join(SURFACES.map(strand), sql` union all `)}) both_apis order by id desc limit ${limit}
    ) newest`.execute(db);
  return rows;
}
