import type { NetworkProblem } from '../../domain/network-problem.ts';
import type { Network } from '../../domain/networks.ts';
import type { Mode } from '../../domain/permission.ts';
import { backupState } from '../../store/backups/backups.ts';
import { endpointHealth } from '../../store/figures/home.ts';
import { isoTime } from '../../wire/time.ts';
import { networkStatus, type NetworkStatus } from '../chains/network-status.ts';
import type { App } from '../context.ts';
import { RIGHT_CLOCK } from '../service-clock.ts';
import { sharedAnswer } from '../shared-answer.ts';

/** The state of one part, in one line. `none`: there is nothing to judge. */
export interface Health {
  readonly state: 'ok' | 'warning' | 'problem' | 'none';
  readonly count: number;
  /** The number of them that have a problem or a warning. */
  readonly affected: number;
  /** The problem in plain words for the operator; null if there is none. */
  readonly detail: string | null;
}

/** The health of the parts that all projects share, read from the database without asking any chain. */
export interface ServiceHealth {
  readonly networks: Health;
  readonly backups: Health;
  readonly clock: Health;
  /** Networks that payments can be made on. */
  readonly followed: readonly Network[];
  readonly faults: readonly NetworkFault[];
  readonly statuses: readonly NetworkStatus[];
}

/** Why a network does not see payments as they come. */
export interface NetworkFault {
  readonly network: Network;
  readonly problem: string;
  readonly kind: NetworkProblem;
  /** Identifies this occurrence of the fault: the newest block that was read before it. */
  readonly since: string;
}

/** How long a result is shared. Every open Home page polls. */
const KEPT_MS = 5_000;
/** The age at which a backup is too old for a shop that takes payments every day. */
const OLD_BACKUP_MS = 7 * 86_400_000;

/** Reads the service's health at most once every five seconds, however many people ask. */
export function createServiceHealth(
  app: App,
  networks: readonly Network[],
  keptMs = KEPT_MS,
): () => Promise<ServiceHealth> {
  return sharedAnswer(keptMs, async () => {
    const all = await networkStatus(app, networks);
    return {
      statuses: all,
      networks: networkHealth(all),
      backups: await backupHealth(app),
      clock: clockHealth(app),
      followed: networks,
      faults: all.flatMap(({ network, problem, problemKind: kind, cursor }) => {
        if (problem === null || kind === null) return [];
        // While catching up, new blocks are read all the time: there the day identifies the fault.
        const since =
          kind === 'behind' ? `catching up ${isoTime(app.clock()).slice(0, 10)}` : String(cursor?.blockAt ?? 0);
        return [{ network, problem, kind, since }];
      }),
    };
  });
}

function networkHealth(all: readonly NetworkStatus[]): Health {
  const ill = all.filter(({ problem }) => problem !== null);
  const warned = all.filter(({ problem, warnings, lost }) => problem === null && warnings.length + lost.length > 0);
  const lines = [
    ...ill.map(({ network, problem }) => `${network}: ${problem ?? ''}`),
    ...warned.flatMap(({ network, warnings, lost }) => [
      ...warnings.map((warning) => `${network}: ${warning}`),
      ...(lost.length === 0
        ? []
        : [`${network}: ${lost.length} transfers came to addresses from hours that a restore lost`]),
    ]),
  ];
  return {
    state: all.length === 0 ? 'none' : ill.length > 0 ? 'problem' : warned.length > 0 ? 'warning' : 'ok',
    count: all.length,
    affected: ill.length + warned.length,
    detail: lines.length === 0 ? null : lines.join('\n'),
  };
}

async function backupHealth(app: App): Promise<Health> {
  const state = await backupState(app.db);
  if (state === null) return { state: 'none', count: 0, affected: 0, detail: null };
  const { lastGood, lastFailed } = state;
  const isOld = lastGood === null || app.clock() - lastGood.startedAt > OLD_BACKUP_MS;
  const lastGoodText =
    lastGood === null ? 'no good one exists' : `the last good one is from ${isoTime(lastGood.startedAt)}`;
  if (lastFailed)
    return { state: 'problem', count: 1, affected: 1, detail: `the last backup failed, and ${lastGoodText}` };
  return isOld
    ? { state: 'warning', count: 1, affected: 1, detail: lastGoodText }
    : { state: 'ok', count: 1, affected: 0, detail: null };
}

function clockHealth({ clockState }: App): Health {
  const { problem, refusal } = clockState?.() ?? RIGHT_CLOCK;
  const state = refusal !== null ? 'problem' : problem !== null ? 'warning' : 'ok';
  return { state, count: 1, affected: problem === null ? 0 : 1, detail: problem };
}

/** The health of a project's endpoints of one mode. */
export async function webhookHealth(
  app: App,
  scope: { readonly projectId: string; readonly mode: Mode },
): Promise<Health> {
  const endpoints = await endpointHealth(app.db, scope);
  const disabled = endpoints.filter(({ disabledReason }) => disabledReason !== null);
  const failing = endpoints.filter(({ disabledReason, isFailing }) => disabledReason === null && isFailing);
  const lines = [
    ...disabled.map(({ url, disabledReason }) => `${url}: ${disabledReason ?? ''}`),
    ...failing.map(({ url }) => `${url}: the newest delivery failed`),
  ];
  return {
    state: endpoints.length === 0 ? 'none' : disabled.length > 0 ? 'problem' : failing.length > 0 ? 'warning' : 'ok',
    count: endpoints.length,
    affected: disabled.length + failing.length,
    detail: lines.length === 0 ? null : lines.join('\n'),
  };
}
