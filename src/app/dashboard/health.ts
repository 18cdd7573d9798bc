import type { HealthFaultKind } from '../../domain/health-fault.ts';
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
  readonly faults: readonly HealthFault[];
}

export interface HealthFault {
  readonly kind: HealthFaultKind;
  /** The network or the URL of the endpoint. */
  readonly subject: string | null;
  /** The words of a node, an endpoint or the service, in English for the operator. */
  readonly said: string | null;
  /** The start of the last good backup. */
  readonly at: number | null;
  /** The number of transfers. */
  readonly count: number;
}

const FAULT = { subject: null, said: null, at: null, count: 0 } as const;

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
  const faults = [
    ...ill.flatMap(({ network, problem, problemKind: kind }): readonly HealthFault[] =>
      kind === null ? [] : [{ ...FAULT, kind, subject: network, said: problem }],
    ),
    ...warned.flatMap(({ network, warnings, lost }): readonly HealthFault[] => [
      ...warnings.map((said) => ({ ...FAULT, kind: 'network_warning', subject: network, said }) as const),
      ...(lost.length === 0
        ? []
        : [{ ...FAULT, kind: 'lost_transfers', subject: network, count: lost.length } as const]),
    ]),
  ];
  return {
    state: all.length === 0 ? 'none' : ill.length > 0 ? 'problem' : warned.length > 0 ? 'warning' : 'ok',
    count: all.length,
    affected: ill.length + warned.length,
    faults,
  };
}

async function backupHealth(app: App): Promise<Health> {
  const state = await backupState(app.db);
  if (state === null) return { state: 'none', count: 0, affected: 0, faults: [] };
  const { lastGood, lastFailed } = state;
  const isOld = lastGood === null || app.clock() - lastGood.startedAt > OLD_BACKUP_MS;
  const fault = { ...FAULT, at: lastGood?.startedAt ?? null };
  if (lastFailed) return { state: 'problem', count: 1, affected: 1, faults: [{ ...fault, kind: 'backup_failed' }] };
  return isOld
    ? { state: 'warning', count: 1, affected: 1, faults: [{ ...fault, kind: 'backup_old' }] }
    : { state: 'ok', count: 1, affected: 0, faults: [] };
}

function clockHealth({ clockState }: App): Health {
  const { aheadMs, problem, refusal } = clockState?.() ?? RIGHT_CLOCK;
  const state = refusal !== null ? 'problem' : problem !== null ? 'warning' : 'ok';
  return problem === null
    ? { state, count: 1, affected: 0, faults: [] }
    : {
        state,
        count: 1,
        affected: 1,
        faults: [{ ...FAULT, kind: 'clock', said: problem, count: Math.round(Math.abs(aheadMs) / 1_000) }],
      };
}

/** The health of a project's endpoints of one mode. */
export async function webhookHealth(
  app: App,
  scope: { readonly projectId: string; readonly mode: Mode },
): Promise<Health> {
  const endpoints = await endpointHealth(app.db, scope);
  const disabled = endpoints.filter(({ disabledReason }) => disabledReason !== null);
  const failing = endpoints.filter(({ disabledReason, isFailing }) => disabledReason === null && isFailing);
  return {
    state: endpoints.length === 0 ? 'none' : disabled.length > 0 ? 'problem' : failing.length > 0 ? 'warning' : 'ok',
    count: endpoints.length,
    affected: disabled.length + failing.length,
    faults: [
      ...disabled.map(
        ({ url, disabledReason }) =>
          ({ ...FAULT, kind: 'endpoint_disabled', subject: url, said: disabledReason }) as const,
      ),
      ...failing.map(({ url }) => ({ ...FAULT, kind: 'endpoint_failing', subject: url }) as const),
    ],
  };
}
