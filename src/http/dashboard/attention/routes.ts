import { attentionItems, MAX_ATTENTION, type AttentionItem } from '../../../app/dashboard/attention.ts';
import { markAttention, markManyAttention, projectAssignees } from '../../../app/dashboard/mark-attention.ts';
import { identityOf, noticedNumbers } from '../../../app/notifications/survey.ts';
import { fiatDecimals, formatDecimal } from '../../../domain/money.ts';
import { mayDo } from '../../../domain/role.ts';
import type { Assignee } from '../../../store/figures/attention.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { encodeId } from '../../../domain/id.ts';
import { isoTime } from '../../../wire/time.ts';
import { done } from '../refusal-words.ts';
import type { AnswerOf } from '../contract.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import type { AttentionView } from './contract.ts';

const ATTENTION = '/dashboard/api/projects/:project/:mode/attention';

/** Items that need attention, and people's notes on them. */
export function attentionRoutes(routes: Routes, { people: { app: core }, serviceHealth, sweeps }: Dashboard): void {
  const sources = { serviceHealth, sweeps };
  const READ = { action: 'read_payments' } as const;
  const list = async (scope: ProjectScope): Promise<AnswerOf<`GET ${typeof ATTENTION}`>> => {
    const items = await attentionItems(core, scope, sources);
    const [people, numbers] = await Promise.all([
      projectAssignees(core.db, scope.projectId),
      noticedNumbers(core, scope),
    ]);
    return {
      data: items.slice(0, MAX_ATTENTION).map((item) => viewOf(item, scope.projectId, people, numbers)),
      has_more: items.length > MAX_ATTENTION,
      // Only people who may assign see to whom.
      people: mayDo(scope.role, 'write_notes') ? [...people] : [],
    };
  };
  routes.add(`GET ${ATTENTION}`, READ, ({ scope }) => list(scope));
  routes.add(`GET ${ATTENTION}/count`, READ, async ({ scope }) => {
    const [items, numbers] = await Promise.all([attentionItems(core, scope, sources), noticedNumbers(core, scope)]);
    const shown = items.slice(0, MAX_ATTENTION).map(identityOf);
    return {
      count: shown.length,
      newest: Math.max(0, ...numbers.values()),
      unnoticed: shown.filter((identity) => !numbers.has(identity)),
    };
  });
  routes.add(`POST ${ATTENTION}/mark`, { action: 'write_notes' }, async ({ scope, body, own }) => {
    const { kind, subject, occurrence, version, assigned_to: assignedTo, note, done: isDone } = body;
    const key = { kind, subject, occurrence };
    const change = { assignedTo, note, isDone, version };
    done(await markAttention(own, scope, sources, { key, change }));
    return list(scope);
  });
  routes.add(`POST ${ATTENTION}/mark-many`, { action: 'write_notes' }, async ({ scope, body, own }) => {
    const markings = body.items.map(
      ({ kind, subject, occurrence, version, assigned_to: assignedTo, done: isDone }) => ({
        key: { kind, subject, occurrence },
        change: { assignedTo, isDone, version },
      }),
    );
    const refused = await markManyAttention(own, scope, sources, markings);
    const assignee = refused.find(({ refusal }) => refusal.code === 'assignee');
    if (assignee !== undefined) done(assignee.refusal);
    const failed = refused.map(({ key, refusal }) => ({
      identity: identityOf(key),
      reason: refusal.code === 'attention_changed' ? ('changed' as const) : ('over' as const),
    }));
    return { list: await list(scope), failed };
  });
}

function viewOf(
  item: AttentionItem,
  projectId: string,
  people: readonly Assignee[],
  numbers: ReadonlyMap<string, number>,
): AttentionView {
  const { payment, money, usdCents, worth, mark } = item;
  return {
    kind: item.kind,
    subject: item.subject,
    occurrence: item.occurrence,
    identity: identityOf(item),
    noticed: numbers.get(identityOf(item)) ?? null,
    at: item.at === null ? null : isoTime(item.at),
    payment: payment === null ? null : { id: publicPaymentId(payment), name: payment.name },
    amount: money === null ? null : formatDecimal(money.units, money.decimals),
    asset: money?.asset ?? null,
    network: item.network,
    until: item.until === null ? null : isoTime(item.until),
    usd: usdCents === null ? null : formatDecimal(usdCents, 2),
    worth:
      worth === null
        ? null
        : { amount: formatDecimal(worth.minor, fiatDecimals(worth.currency)), currency: worth.currency },
    url: item.url,
    detail: item.detail,
    problem_kind: item.problemKind,
    command: commandOf(item, projectId),
    change: item.change,
    assigned_to: people.find(({ id }) => id === mark?.assignedTo) ?? null,
    note: mark?.note ?? null,
    version: mark?.version ?? 0,
  };
}

/** The command that deals with an item if no page does. */
function commandOf({ kind, subject, network, payment }: AttentionItem, projectId: string): string | null {
  switch (kind) {
    case 'endpoint_failing':
      return `cointill webhook deliveries ${encodeId('endpoint', subject)}`;
    case 'endpoint_disabled':
      return `cointill webhook enable ${encodeId('endpoint', subject)}`;
    case 'no_wallet':
      return `cointill wallet set --project ${projectId} --network ${network}`;
    case 'sweep':
      return `cointill sweep plan --project ${projectId} --network ${network}`;
    case 'refund_paid_twice':
    case 'refund_paid_anyway':
      return payment === null ? null : `cointill payment show ${publicPaymentId(payment)}`;
    case 'refund_to_sign':
      return `cointill refund show ${payment?.name}`;
    case 'node_behind':
      return 'cointill network status';
    default:
      return null;
  }
}
