import type { AssetCode } from '../../domain/asset-code.ts';
import { actionOfAttention, type AttentionKind } from '../../domain/attention.ts';
import { encodeId } from '../../domain/id.ts';
import type { Fiat } from '../../domain/money.ts';
import type { NetworkProblem } from '../../domain/network-problem.ts';
import type { Network } from '../../domain/networks.ts';
import type { PaymentApi } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { mayDo, type Role } from '../../domain/role.ts';
import { withoutQuery } from '../../domain/web-url.ts';
import {
  attentionMarks,
  faultyEndpoints,
  goneSales,
  slowPayments,
  unusualPayments,
  walletNetworks,
  type AttentionKey,
  type AttentionMark,
  type FaultyEndpoint,
  type FaultyPayment,
} from '../../store/figures/attention.ts';
import { askingRefunds, type AskingRefund } from '../../store/figures/asking-refunds.ts';
import { unseenWalletChanges, type WalletChange } from '../../store/wallets/wallets.ts';
import type { App } from '../context.ts';
import { keysBeyondRole, type KeyBeyondRole } from '../projects/keys.ts';
import type { NetworkFault, ServiceHealth } from './health.ts';

/** One item that needs the attention of a person now, with the values that a sentence about it needs. */
export interface AttentionItem extends AttentionKey {
  readonly kind: AttentionKind;
  /** The begin of the problem or the creation of its subject, in epoch milliseconds; null if unknown. */
  readonly at: number | null;
  readonly payment: { readonly id: string; readonly api: PaymentApi; readonly name: string | null } | null;
  /** The amount in the token's smallest units: missing, too much, late, or to be paid back. */
  readonly money: {
    readonly units: bigint;
    readonly decimals: number;
    readonly asset: AssetCode;
  } | null;
  /** The value of `money` in the payment's currency, in its smallest unit, at the payment's rate. */
  readonly worth: { readonly minor: bigint; readonly currency: Fiat } | null;
  readonly network: Network | null;
  /** The time until which it can still be dealt with, in epoch milliseconds. */
  readonly until: number | null;
  readonly usdCents: bigint | null;
  /** An endpoint's URL, without the query. */
  readonly url: string | null;
  /** The problem in plain words. */
  readonly detail: string | null;
  /** The kind of problem, for a network that is not followed. */
  readonly problemKind: NetworkProblem | null;
  /**
   * A change of a wallet, with both wallets as people recognise them (`before` is null if there was none), or the
   * creation of a key.
   */
  readonly change: {
    readonly by: WalletChange['actor'];
    readonly before: string | null;
    readonly after: string;
  } | null;
  readonly mark: AttentionMark | null;
}

/** Deposits of a network that are worth a sweep. */
export interface SweepWorth {
  readonly network: Network;
  /** The newest deposit's number; changes when another deposit comes. */
  readonly newest: number;
  readonly deposits: number;
  /** Null if no price is known. */
  readonly usdCents: bigint | null;
}

/** The sources beside the database. */
export interface AttentionSources {
  readonly serviceHealth: () => Promise<ServiceHealth>;
  /** The last known state: no request asks a chain. */
  readonly sweeps: (projectId: string) => Promise<readonly SweepWorth[]>;
}

export interface AttentionScope {
  readonly projectId: string;
  readonly mode: Mode;
  readonly role: Role | null;
}

/** Older refunds have ended, and what a payout long after that means nobody can tell. */
const REFUND_WATCH_MS = 90 * 24 * 60 * 60_000;

/** Nobody can do anything about an older sale. */
const SALE_WATCH_MS = 7 * 24 * 60 * 60_000;

/** How many items of each kind are read. People who have more do not need the exact number. */
export const MAX_ATTENTION = 100;

/**
 * The open items of a project and mode that the role may see, newest first. They follow from the present state, so that
 * solved or past ones never appear.
 */
export async function attentionItems(
  app: App,
  scope: AttentionScope,
  sources: AttentionSources,
): Promise<readonly AttentionItem[]> {
  const items = (
    await Promise.all([paymentItems(app, scope), endpointItems(app, scope), liveItems(app, scope, sources)])
  )
    .flat()
    .filter(({ kind }) => mayDo(scope.role, actionOfAttention(kind)));
  const marks = await attentionMarks(app.db, scope, items);
  const keyOf = ({ kind, subject, occurrence }: AttentionKey): string => JSON.stringify([kind, subject, occurrence]);
  const byKey = new Map(marks.map((mark) => [keyOf(mark), mark]));
  return items
    .map((item) => ({ ...item, mark: byKey.get(keyOf(item)) ?? null }))
    .filter(({ mark }) => mark === null || mark.doneAt === null)
    .toSorted((a, b) => (b.at ?? Infinity) - (a.at ?? Infinity));
}

const NOTHING: Omit<AttentionItem, keyof AttentionKey | 'kind'> = {
  at: null,
  payment: null,
  money: null,
  worth: null,
  network: null,
  until: null,
  usdCents: null,
  url: null,
  detail: null,
  problemKind: null,
  change: null,
  mark: null,
};

async function paymentItems(app: App, scope: AttentionScope): Promise<readonly AttentionItem[]> {
  const now = app.clock();
  const [unusual, slow, gone] = await Promise.all([
    unusualPayments(app.db, scope, MAX_ATTENTION + 1),
    slowPayments(app.db, scope, now, MAX_ATTENTION + 1),
    goneSales(app.db, scope, now - SALE_WATCH_MS, MAX_ATTENTION + 1),
  ]);
  return [...unusual, ...slow, ...gone].map((payment) => ({
    ...NOTHING,
    kind: payment.kind,
    subject: payment.id,
    occurrence: payment.occurrence,
    at: payment.since ?? payment.cancelledAt ?? payment.createdAt,
    payment: { id: payment.id, api: payment.api, name: payment.name },
    money: { units: unitsOf(payment), decimals: payment.decimals, asset: payment.asset },
    worth: worthOf(payment),
    network: payment.network,
    until: payment.kind === 'underpaid' && payment.status === 'pending' ? payment.expiresAt : null,
  }));
}

/** The value of that amount at the payment's rate: its share in the coins that were owed. */
function worthOf(payment: FaultyPayment): AttentionItem['worth'] {
  const { amountMinor, currency, owedUnits } = payment;
  return owedUnits === 0n ? null : { minor: (amountMinor * unitsOf(payment)) / owedUnits, currency };
}

/** The amount that the item's sentence names. */
function unitsOf({ kind, owedUnits, leftUnits }: FaultyPayment): bigint {
  switch (kind) {
    case 'underpaid':
      return leftUnits < owedUnits ? owedUnits - leftUnits : 0n;
    case 'overpaid':
      return leftUnits - owedUnits;
    case 'reorged':
    case 'till_money_gone':
    case 'paid_late':
    case 'paid_after_cancel':
    case 'slow':
      return leftUnits;
  }
}

async function endpointItems(app: App, scope: AttentionScope): Promise<readonly AttentionItem[]> {
  return (await faultyEndpoints(app.db, scope)).map((endpoint) => ({
    ...NOTHING,
    subject: endpoint.id,
    url: withoutQuery(endpoint.url),
    ...(endpoint.disabledAt === null
      ? {
          kind: 'endpoint_failing' as const,
          occurrence: String(endpoint.tookLast),
          detail: answerOf(endpoint),
        }
      : {
          kind: 'endpoint_disabled' as const,
          occurrence: String(endpoint.disabledAt),
          at: endpoint.disabledAt,
          detail: endpoint.disabledReason,
        }),
  }));
}

function answerOf({ status, error }: FaultyEndpoint): string | null {
  return status === null ? error : `HTTP ${status}`;
}

/** Items that exist only in live mode: money on chains, wallets and keys. */
async function liveItems(
  app: App,
  { projectId, mode }: AttentionScope,
  { serviceHealth, sweeps }: AttentionSources,
): Promise<readonly AttentionItem[]> {
  if (mode !== 'live') return [];
  const recent = { limit: MAX_ATTENTION + 1, since: app.clock() - REFUND_WATCH_MS };
  const [keys, unsigned, doubled, anyway, changes, wallets, { followed, faults }, worth] = await Promise.all([
    keysBeyondRole(app, projectId),
    askingRefunds(app.db, projectId, 'refund_to_sign', recent),
    askingRefunds(app.db, projectId, 'refund_paid_twice', recent),
    askingRefunds(app.db, projectId, 'refund_paid_anyway', recent),
    unseenWalletChanges(app.db, projectId, MAX_ATTENTION + 1),
    walletNetworks(app.db, projectId),
    serviceHealth(),
    sweeps(projectId),
  ]);
  const without = wallets.isLive ? followed.filter((network) => !wallets.networks.includes(network)) : [];
  return [
    ...keys.map(keyItem),
    ...unsigned.map((refund) => refundItem('refund_to_sign', refund)),
    ...doubled.map((refund) => refundItem('refund_paid_twice', refund)),
    ...anyway.map((refund) => refundItem('refund_paid_anyway', refund)),
    ...changes.map(walletItem),
    ...faults.filter(({ network }) => wallets.networks.includes(network)).map(faultItem),
    ...without.map((network) => ({
      ...NOTHING,
      kind: 'no_wallet' as const,
      subject: network,
      occurrence: 'none',
      network,
    })),
    ...worth.map(({ network, newest, deposits, usdCents }) => ({
      ...NOTHING,
      kind: 'sweep' as const,
      subject: network,
      occurrence: String(newest),
      network,
      usdCents,
      detail: String(deposits),
    })),
  ];
}

function keyItem({ key, maker, role }: KeyBeyondRole): AttentionItem {
  return {
    ...NOTHING,
    kind: 'key_beyond_role',
    subject: key.id,
    occurrence: role ?? 'none',
    at: key.createdAt,
    detail: key.name,
    change: { by: maker, before: null, after: role ?? '' },
  };
}

function refundItem(kind: AttentionKind, refund: AskingRefund): AttentionItem {
  const id = encodeId('refund', refund.id);
  return {
    ...NOTHING,
    kind,
    subject: refund.id,
    occurrence: refund.occurrence,
    at: refund.createdAt,
    payment: { id: refund.paymentId, api: refund.api, name: id },
    money: { units: refund.units, decimals: refund.decimals, asset: refund.asset },
    worth: { minor: refund.amountMinor, currency: refund.currency },
    network: refund.network,
    until: refund.dueAt,
  };
}

function walletItem({ id, network, changedAt, actor, before, after }: WalletChange): AttentionItem {
  return {
    ...NOTHING,
    kind: 'wallet_changed',
    subject: id,
    occurrence: 'changed',
    at: changedAt,
    network,
    change: { by: actor, before, after },
  };
}

function faultItem({ network, problem, kind, since }: NetworkFault): AttentionItem {
  return {
    ...NOTHING,
    kind: 'node_behind',
    subject: network,
    occurrence: since,
    network,
    detail: problem,
    problemKind: kind,
  };
}
