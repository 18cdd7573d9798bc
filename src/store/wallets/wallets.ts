import { sql, type SqlBool } from 'kysely';
import { GAP_LIMIT, type Network } from '../../domain/networks.ts';
import type { Database, Trx } from '../database.ts';
import { notifyAccess } from '../notifications.ts';
import { fields, findRows, insertRows, updateRows, type Stored } from '../rows.ts';
import type { ActorKind } from '../schema/people.ts';

/** The source of a project's addresses on one network. */
export interface Wallet extends Omit<Stored<'wallets'>, 'replacedAt'> {
  readonly nextIndex: number;
  /** How many addresses were handed out after the last one that was paid, counted up to {@link MAX_GAP}. */
  readonly gap: number;
}

/** Larger gaps count as this. */
export const MAX_GAP = 10_000;

/** A gap in words, and the gap limit with which the merchant's own wallet finds every address. */
export function gapInWords({ gap, nextIndex }: Pick<Wallet, 'gap' | 'nextIndex'>): {
  readonly count: string;
  readonly limit: number;
} {
  return gap < MAX_GAP
    ? { count: `${gap}`, limit: gap + GAP_LIMIT }
    : { count: `${MAX_GAP} or more`, limit: nextIndex + GAP_LIMIT };
}

/**
 * How many addresses of the wallet `w` were handed out or skipped after the last one that received money, or since the
 * first one if none has; at most {@link MAX_GAP}, because more are not counted. Wallets of one source share their
 * addresses.
 */
const GAP = sql<number>`
  least(${sql.lit(MAX_GAP)}, i.next_index - 1 - coalesce(
    (select max((
        select a.address_index from payment_addresses a
        where a.wallet_id = same_wallet.id and a.address_index >= i.next_index - ${sql.lit(MAX_GAP)}
          and exists (select 1 from transfers t where t.network = a.network and t.payment_id = a.payment_id
            and t.address = a.address and t.state <> 'dropped')
        order by a.address_index desc limit 1))
      from wallets same_wallet where same_wallet.network = w.network and same_wallet.first_address = w.first_address),
    least(
      (select min((
          select a.address_index from payment_addresses a
          where a.wallet_id = same_wallet.id order by a.address_index limit 1))
        from wallets same_wallet where same_wallet.network = w.network and same_wallet.first_address = w.first_address),
      (select min(s.from_index) from skipped_indexes s
        where s.network = w.network and s.first_address = w.first_address)) - 1,
    i.next_index - 1))`;

/** The networks that a project has a wallet on. */
export async function walletNetworks(executor: Database | Trx, projectId: string): Promise<ReadonlySet<Network>> {
  const rows = await findRows(executor, 'wallets', { projectId, replacedAt: null });
  return new Set(rows.map(({ network }) => network));
}

/** The project's wallets in use, one per network. */
export async function listWallets(executor: Database | Trx, projectId: string): Promise<readonly Wallet[]> {
  return executor
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .select(fields('wallets', { of: 'w', without: ['replaced_at'] }))
    .select(['i.next_index as nextIndex', GAP.as('gap')])
    .where('w.project_id', '=', projectId)
    .where('w.replaced_at', 'is', null)
    .orderBy('w.network')
    .execute();
}

/** The wallets in use on these networks, the one with the latest order first. */
export async function busiestWallets(
  db: Database,
  networks: readonly Network[],
  limit: number,
): Promise<readonly Pick<Wallet, 'network' | 'kind' | 'source' | 'nextIndex'>[]> {
  const { rows } = await sql<Pick<Wallet, 'network' | 'kind' | 'source' | 'nextIndex'>>`
    select w.network, w.kind, w.source, i.next_index as "nextIndex"
    from wallets w join address_indexes i on i.network = w.network and i.first_address = w.first_address
    where w.replaced_at is null and w.network = any (${networks}::text[])
    order by (
      select issued_at from payment_addresses a where a.wallet_id = w.id order by a.address_index desc limit 1
    ) desc nulls last limit ${limit}`.execute(db);
  return rows;
}

/** The distance of a wallet's handed-out addresses from the last paid one. */
export interface AddressGap {
  readonly projectId: string;
  readonly network: Network;
  /** Addresses handed out after the last one that received money, counted up to {@link MAX_GAP}. */
  readonly gap: number;
  /** How many were handed out or skipped in total. */
  readonly nextIndex: number;
}

/**
 * The gaps of all wallets in use, by project and network. Deposit contracts are left out, because no wallet scans for
 * them. Reads a few indexed rows per wallet, so that it can be called every few seconds.
 */
export async function addressGaps(db: Database | Trx): Promise<readonly AddressGap[]> {
  return db
    .selectFrom('wallets as w')
    .innerJoin('address_indexes as i', (join) =>
      join.onRef('i.network', '=', 'w.network').onRef('i.first_address', '=', 'w.first_address'),
    )
    .select(['w.project_id as projectId', 'w.network', 'i.next_index as nextIndex', GAP.as('gap')])
    .where('w.replaced_at', 'is', null)
    .where('w.kind', '!=', 'treasury')
    .orderBy('w.network')
    .orderBy('w.project_id')
    .execute();
}

/**
 * Sets the wallet of a project on a network. A wallet with the same first address is the same wallet, perhaps in
 * another form: it keeps its record and takes the new source, even if it was replaced since and its addresses are still
 * in use. Any other wallet replaces the current one.
 */
export async function setWallet(trx: Trx, wallet: Omit<Wallet, 'nextIndex' | 'gap'>): Promise<void> {
  const { projectId, network, firstAddress, kind, source, confirmations, toleranceBasisPoints, createdAt } = wallet;
  const [current] = (await listWallets(trx, projectId)).filter((one) => one.network === network);
  await notifyAccess(trx);
  await updateRows(trx, 'wallets', { projectId, network, firstAddress }, { kind, source });
  if (current?.firstAddress === firstAddress) {
    await updateRows(trx, 'wallets', { id: current.id }, { confirmations, toleranceBasisPoints });
    return;
  }
  if (current !== undefined) await updateRows(trx, 'wallets', { id: current.id }, { replacedAt: createdAt });
  // A wallet that was used before, here or by another project, continues where it stopped: no address is handed out
  // twice.
  const indexes = { network, firstAddress, nextIndex: 0, haltedReason: null };
  await insertRows(trx, 'address_indexes', [indexes], { conflict: {} });
  await insertRows(trx, 'wallets', [{ ...wallet, replacedAt: null }]);
}

/** The treasuries that a project has or had, on any network. */
export async function treasuriesOf(db: Database | Trx, projectId: string): Promise<readonly string[]> {
  const rows = await db
    .selectFrom('wallets')
    .select('source')
    .distinct()
    .where('project_id', '=', projectId)
    .where('kind', '=', 'treasury')
    .execute();
  return rows.map(({ source }) => source);
}

type Row = Stored<'wallet_changes'>;

/** A change of the wallet that a project's payments go to. */
export interface WalletChange extends Omit<Row, 'actorKind' | 'actorName'> {
  /** The actor of the change, as the audit log names them. */
  readonly actor: { readonly kind: ActorKind; readonly name: string };
}

export async function insertWalletChange(trx: Trx, change: WalletChange): Promise<void> {
  const { kind: actorKind, name: actorName } = change.actor;
  await insertRows(trx, 'wallet_changes', [{ ...change, actorKind, actorName }]);
}

/** The changes that nobody has marked as done yet, newest first. */
export async function unseenWalletChanges(
  db: Database,
  projectId: string,
  limit: number,
): Promise<readonly WalletChange[]> {
  const rows = await db
    .selectFrom('wallet_changes as c')
    .select(fields('wallet_changes', { of: 'c' }))
    .where('c.project_id', '=', projectId)
    .where(
      sql<SqlBool>`not exists (
        select from attention_marks m where m.project_id = c.project_id and m.mode = 'live' and m.kind = 'wallet_changed'
          and m.subject = c.id::text and m.done_at is not null)`,
    )
    .orderBy('c.id', 'desc')
    .limit(limit)
    .execute();
  return rows.map(({ actorKind: kind, actorName: name, ...row }) => ({ ...row, actor: { kind, name } }));
}
