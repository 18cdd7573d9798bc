import type { TimelineEntry } from '../../../../../src/http/dashboard/payments/contract.ts';

type Entry<Kind extends TimelineEntry['kind']> = Extract<TimelineEntry, { readonly kind: Kind }>;

/** One step of the history, with its actor and the events that were sent. */
export interface Step {
  readonly entry: TimelineEntry;
  readonly action: Entry<'action'> | null;
  readonly events: readonly Entry<'event'>[];
}

interface OpenStep extends Step {
  action: Entry<'action'> | null;
  readonly events: Entry<'event'>[];
}

/** An action and its events are written in the same transaction, by clocks that are read one after the other. */
const SOON_MS = 5_000;

/** A payment's history in the order of `timeline`, each cause together with its action and events. */
export function stepsOf(timeline: readonly TimelineEntry[]): readonly Step[] {
  const steps: OpenStep[] = timeline
    .filter((entry, index) => !isPassedThrough(entry, timeline.slice(index + 1)))
    .map((entry) => ({ entry, action: null, events: [] }));
  const acted = steps.filter(({ entry }) => {
    if (entry.kind !== 'action') return true;
    const cause = causeOf(steps, entry, (one) => (one.action === null ? rankOfAction(entry, one.entry) : 0));
    if (cause !== null) cause.action = entry;
    return cause === null;
  });
  return acted.filter(({ entry }) => {
    if (entry.kind !== 'event') return true;
    const cause = causeOf(acted, entry, (one) => rankOfEvent(entry, one.entry));
    cause?.events.push(entry);
    return cause === null;
  });
}

/** Whether a status lasted for no time: then the next status says enough. */
function isPassedThrough(entry: TimelineEntry, later: readonly TimelineEntry[]): boolean {
  if (entry.kind !== 'status' || entry.from === null) return false;
  return later.some((one) => one.kind === 'status' && one.at === entry.at);
}

/** The step of the highest rank above 0 that came shortly before, the latest of them. */
function causeOf(
  steps: readonly OpenStep[],
  { at }: TimelineEntry,
  rankOf: (step: OpenStep) => number,
): OpenStep | null {
  let best: { readonly step: OpenStep; readonly rank: number; readonly ms: number } | null = null;
  for (const step of steps) {
    const ms = Date.parse(at) - Date.parse(step.entry.at);
    const rank = rankOf(step);
    if (rank === 0 || ms < 0 || ms > SOON_MS) continue;
    if (best === null || rank > best.rank || (rank === best.rank && ms <= best.ms)) best = { step, rank, ms };
  }
  return best?.step ?? null;
}

const RESULTS: Readonly<Record<string, string>> = {
  'payment.accept': 'completed',
  'payment.cancel': 'cancelled',
  'payment.complete': 'completed',
};

function rankOfAction({ action }: Entry<'action'>, entry: TimelineEntry): number {
  if (entry.kind === 'status' && entry.from === null) return action === 'payment.create' ? 1 : 0;
  if (action === 'payment.simulate') return entry.kind === 'status' ? 2 : entry.kind === 'transfer' ? 1 : 0;
  return entry.kind === 'status' && entry.to === RESULTS[action] ? 1 : 0;
}

function rankOfEvent({ type }: Entry<'event'>, entry: TimelineEntry): number {
  const [about, what] = type.split('.');
  if (about === 'refund') {
    if (entry.kind === 'refund') return entry.what === what ? 1 : 0;
    return entry.kind === 'action' && entry.action === 'refund.cancel' && what === 'failed' ? 1 : 0;
  }
  if (entry.kind === 'status') return (entry.from === null) === (what === 'created') ? 2 : 0;
  return entry.kind === 'transfer' && what !== 'created' ? 1 : 0;
}
