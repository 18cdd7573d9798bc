import type { Network } from '../../domain/networks.ts';
import type { GapReason } from '../../domain/event-log.ts';
import { MAX_SPREAD, skipOf, skippedPositions } from '../../domain/recovery.ts';
import type { Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../../store/database.ts';
import { highestLostIndex, lostTransfers } from '../../store/chains/lost-transfers.ts';
import { counterPaces, lockPaces, raiseCounter, waitingDeliveries } from '../../store/wallets/recovery.ts';
import type { WalletKind } from '../../store/schema/wallets.ts';
import type { App } from '../context.ts';
import { publishLostMoney } from './lost-money.ts';
import { haltedWallets, setHalted, skipTo } from '../../store/wallets/unissued.ts';
import { addressGaps, gapInWords } from '../../store/wallets/wallets.ts';
import { notifyAccess } from '../../store/notifications.ts';
import { skipPositions } from '../../store/webhooks/event-positions.ts';
import type { ObservedTrx } from '../in-transaction.ts';

/** The indexes and numbers that a recovery skipped. */
export interface Recovery {
  readonly lostSince: number;
  readonly wallets: readonly {
    readonly network: Network;
    readonly firstAddress: string;
    readonly kind: WalletKind;
    readonly projectIds: readonly string[];
    /** The first index that was skipped, and the next one that will be handed out. */
    readonly from: number;
    readonly to: number;
    /**
     * The gap limit with which the merchant's own wallet finds later payments; null for deposit contracts, which need
     * none.
     */
    readonly gapLimit: number | null;
  }[];
  readonly numbers: readonly {
    readonly projectId: string;
    readonly mode: Mode;
    readonly year: number;
    /** The last number that this database used, and the one after which it continues. */
    readonly last: number;
    readonly to: number;
  }[];
  /** Webhooks that wait for delivery: those delivered since the backup are sent again. */
  readonly waitingDeliveries: number;
}

/** The request of a recovery: which range to skip. */
export interface SkipRequest {
  readonly lostSince: number;
  readonly now: number;
  /** How many to skip of each; null: derived from the busiest day and the lost time. */
  readonly skip: number | null;
  /**
   * Where other copies of this database, made by other restores, continue: they may have used every index from there
   * on.
   */
  readonly otherCopies?: OtherCopies;
  /** Added to each range by a restore: drawn at random every time. */
  readonly spread?: number;
  /** Multiplies the derived range, because another copy that was running skipped as much. */
  readonly times?: number;
  /** Why the logs of events get a gap. */
  readonly reason?: GapReason;
}

/** The next index of a wallet, and the last number of a counter, on other copies; 0 if no other copy is known. */
export interface OtherCopies {
  readonly nextIndex: (network: Network, firstAddress: string) => number;
  readonly lastNumber: (projectId: string, mode: Mode, year: number) => number;
}

/**
 * Skips everything that may have been handed out since `lostSince` but is not in this database: transaction numbers,
 * positions of events, and the addresses of every wallet in use, also beyond those that received money or from which
 * another copy continued. Halted wallets hand out addresses again.
 */
export async function skipIssued(
  trx: Database | Trx,
  { lostSince, now, skip, otherCopies, spread = 0, times = 1, reason = 'recovered' }: SkipRequest,
): Promise<Recovery> {
  const beyond = (busiestDay: number): number => skip ?? times * skipOf(busiestDay, now - lostSince) + spread;
  const skipped: Omit<Recovery['wallets'][number], 'gapLimit'>[] = [];
  for (const { network, firstAddress, kind, nextIndex, projectIds, busiestDay } of await lockPaces(trx, lostSince)) {
    const seen = await highestLostIndex(trx, network, firstAddress);
    const other = otherCopies?.nextIndex(network, firstAddress) ?? 0;
    const to = Math.max(nextIndex, (seen ?? -1) + 1, other) + beyond(busiestDay);
    await skipTo(trx, network, { firstAddress, nextIndex }, to, now);
    await setHalted(trx, network, firstAddress, null);
    skipped.push({ network, firstAddress, kind, projectIds, from: nextIndex, to });
  }
  // Addresses that were skipped before, or never paid, count too.
  const gaps = await addressGaps(trx);
  const wallets = skipped.map((wallet) => {
    const gap = gaps.find(
      ({ network, projectId }) => network === wallet.network && wallet.projectIds.includes(projectId),
    );
    return { ...wallet, gapLimit: gap === undefined ? null : gapInWords(gap).limit };
  });
  const numbers: Recovery['numbers'][number][] = [];
  for (const { projectId, mode, year, last, busiestDay } of await counterPaces(
    trx,
    yearsFrom(lostSince, now),
    lostSince,
  )) {
    const to = Math.max(last, otherCopies?.lastNumber(projectId, mode, year) ?? 0) + beyond(busiestDay);
    await raiseCounter(trx, { projectId, mode, year }, to);
    numbers.push({ projectId, mode, year, last, to });
  }
  await skipPositions(trx, skippedPositions(now - lostSince, spread), reason);
  await notifyAccess(trx);
  return { lostSince, wallets, numbers, waitingDeliveries: await waitingDeliveries(trx) };
}

/** Numbers restart every UTC year, so a turn of the year during the lost time began new counters. */
function yearsFrom(lostSince: number, now: number): readonly number[] {
  const [first, last] = [new Date(lostSince).getUTCFullYear(), new Date(now).getUTCFullYear()];
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => first + index);
}

/**
 * Skips more if another copy was running whose numbers may be unknown: it began this far ahead, and handed out the
 * numbers after that.
 */
function beyondCopy(random: () => number): Pick<SkipRequest, 'times' | 'spread'> {
  return { times: 2, spread: MAX_SPREAD + Math.floor(random() * MAX_SPREAD) };
}

/**
 * Skips what a failover may have lost or another copy may have handed out, on the database in use, and publishes the
 * money that lies on the skipped addresses.
 */
export async function recover(
  app: App,
  trx: ObservedTrx,
  request: Pick<SkipRequest, 'lostSince' | 'now' | 'skip' | 'otherCopies'> & { readonly random?: () => number },
): Promise<Recovery> {
  const { random = Math.random, ...wanted } = request;
  const isHalted = (await haltedWallets(trx)).length > 0;
  const recovery = await skipIssued(trx, isHalted ? { ...wanted, ...beyondCopy(random) } : wanted);
  for (const { network, firstAddress, from } of recovery.wallets) {
    await publishLostMoney(
      app,
      trx,
      await lostTransfers(trx, { wallet: { network, firstAddress, from } }),
      request.now,
    );
  }
  return recovery;
}
