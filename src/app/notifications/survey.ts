import { actionOfAttention, ATTENTION_KINDS, type AttentionKind } from '../../domain/attention.ts';
import { formatDecimal } from '../../domain/money.ts';
import { NETWORK_FACTS } from '../../domain/networks.ts';
import { MODES, type ProjectMode } from '../../domain/permission.ts';
import { mayDo } from '../../domain/role.ts';
import {
  endNoticedItems,
  lockNoticedItems,
  noticedItemsOf,
  openNoticedItems,
  saveNoticed,
  type Noticed,
  type NoticedItem,
} from '../../store/figures/noticed-items.ts';
import { wake } from '../../store/wake.ts';
import { listProjects } from '../../store/projects/projects.ts';
import { publicPaymentId } from '../../domain/payment-kind.ts';
import type { App } from '../context.ts';
import {
  attentionItems,
  type AttentionItem,
  type AttentionScope,
  type AttentionSources,
} from '../dashboard/attention.ts';

/**
 * Compares the items that need attention in all projects with the noticed ones, saves new and closed ones, and notifies
 * open tabs. Neither tabs nor mails have to poll.
 */
export async function surveyAttention(app: App, sources: AttentionSources): Promise<void> {
  const projects = (await listProjects(app.db)).filter(({ active }) => active);
  const open = Map.groupBy(await openNoticedItems(app.db), keyOfScope);
  for (const { id: projectId } of projects) {
    for (const mode of MODES) {
      const scope = { projectId, mode };
      const items = await attentionItems(app, { ...scope, role: 'owner' }, sources);
      const known = open.get(keyOfScope(scope)) ?? [];
      if (changeOf(known, items) !== null) await save(app, scope, items);
      open.delete(keyOfScope(scope));
    }
  }
  // The items of deactivated projects.
  for (const [left] of open.values()) if (left !== undefined) await save(app, left, []);
}

const keyOfScope = ({ projectId, mode }: ProjectMode): string => `${projectId} ${mode}`;

interface Change {
  readonly begun: readonly AttentionItem[];
  readonly over: readonly NoticedItem[];
}

/** The difference to the noticed items; null if there is none. */
function changeOf(known: readonly NoticedItem[], items: readonly AttentionItem[]): Change | null {
  const present = new Set(items.map(identityOf));
  const before = new Set(known.map(identityOf));
  const begun = items.filter((item) => !before.has(identityOf(item)));
  const over = known.filter((one) => !present.has(identityOf(one)));
  return begun.length + over.length === 0 ? null : { begun, over };
}

/** Kinds whose changes while they last are no news: another waiting deposit, another late block. */
const LASTING: readonly AttentionKind[] = [
  'endpoint_disabled',
  'endpoint_failing',
  'node_behind',
  'no_wallet',
  'sweep',
];

/** The identity of an item for as long as it lasts. */
export function identityOf({
  kind,
  subject,
  occurrence,
}: {
  readonly kind: AttentionKind;
  readonly subject: string;
  readonly occurrence: string;
}): string {
  return JSON.stringify(LASTING.includes(kind) ? [kind, subject] : [kind, subject, occurrence]);
}

/** The numbers of the open items that a role may see, by identity; later items have higher numbers. */
export async function noticedNumbers(app: App, scope: AttentionScope): Promise<ReadonlyMap<string, number>> {
  const kinds = ATTENTION_KINDS.filter((kind) => mayDo(scope.role, actionOfAttention(kind)));
  const found = await noticedItemsOf(app.db, scope, kinds);
  return new Map(found.map((one) => [identityOf(one), Number(one.id)]));
}

function save(app: App, scope: ProjectMode, items: readonly AttentionItem[]): Promise<void> {
  return app.db.transaction().execute(async (trx) => {
    await lockNoticedItems(trx);
    // Another process may have been first.
    const known = (await openNoticedItems(trx)).filter((one) => keyOfScope(one) === keyOfScope(scope));
    const change = changeOf(known, items);
    if (change === null) return;
    const now = app.clock();
    await saveNoticed(trx, scope, change.begun.map(noticed), now);
    await endNoticedItems(
      trx,
      change.over.map(({ id }) => id),
      now,
    );
    await wake(trx, ['attention', scope.projectId, scope.mode]);
  });
}

function noticed(item: AttentionItem): Noticed {
  const { kind, subject, occurrence, payment, money, url, detail } = item;
  return {
    kind,
    subject,
    occurrence,
    name: url ?? payment?.name ?? (payment === null ? nameOf(item) : publicPaymentId(payment)),
    amount: money === null ? null : `${formatDecimal(money.units, money.decimals)} ${money.asset}`,
    detail,
  };
}

function nameOf({ kind, network, detail }: AttentionItem): string {
  if (kind === 'key_beyond_role') return detail ?? '';
  return network === null ? '' : NETWORK_FACTS[network].label;
}
