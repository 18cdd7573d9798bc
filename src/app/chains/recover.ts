import type { Network } from '../../domain/networks.ts';
import { MAX_SPREAD, skipOf } from '../../domain/recovery.ts';
import type { Mode } from '../../domain/permission.ts';
import type { Database, Trx } from '../../store/database.ts';
import { highestLostIndex, lostTransfers } from '../../store/lost-transfers.ts';
import { counterPaces, lockPaces, raiseCounter, waitingDeliveries } from '../../store/recovery.ts';
import type { WalletKind } from '../../store/schema/wallets.ts';
import type { App } from '../context.ts';
import { publishLostMoney } from './lost-money.ts';
import { haltedWallets, setHalted, skipTo } from '../../store/unissued.ts';
import { addressGaps, gapInWords } from '../../store/wallets.ts';
import { notify } from '../../store/notifications.ts';
import type { ObservedTrx } from '../in-transaction.ts';

/** What a recovery has passed over. */
export interface Recovery {
  readonly lostSince: number;
  readonly wallets: readonly {
    readonly network: Network;
    readonly firstAddress: string;
    readonly kind: WalletKind;
    readonly projectIds: readonly string[];
    /** The first number that was passed over, and the next one that is handed out. */
    readonly from: number;
    readonly to: number;
    /** With which the merchant's own wallet finds what comes from now on; null for deposit contracts, which are in none. */
    readonly gapLimit: number | null;
  }[];
  readonly numbers: readonly {
    readonly projectId: string;
    readonly mode: Mode;
    readonly year: number;
    /** The last number that this database gave, and the one after which it goes on. */
    readonly last: number;
    readonly to: number;
  }[];
  /** Webhooks that wait: those that were delivered since then are sent again. */
  readonly waitingDeliveries: number;
}

/** What is passed over. */
export interface SkipRequest {
  readonly lostSince: number;
  readonly now: number;
  /** How many of each, instead of what pace and time say; null: as they say. */
  readonly skip: number | null;
  /** What another copy of this database, of another restore, begins with: it may have handed out what follows. */
  readonly otherCopies?: OtherCopies;
  /** So many more, for a restore: drawn anew each time. */
  readonly spread?: number;
  /** So many times what pace and time say: another copy was at work, and began as far on as that. */
  readonly times?: number;
}

/** The next number of a wallet, and the last one of a counter, on other copies; 0: no other is known. */
export interface OtherCopies {
  readonly nextIndex: (network: Network, firstAddress: string) => number;
  readonly lastNumber: (projectId: string, mode: Mode, year: number) => number;
}

/**
 * Passes over what may have been handed out since `lostSince` and is not known here: addresses of every wallet in use, beyond
 * those too that money was seen on or that another copy began with, and transaction numbers. Wallets that were halted hand out
 * addresses again.
 */
export async function skipIssued(
  trx: Database | Trx,
  { lostSince, now, skip, otherCopies, spread = 0, times = 1 }: SkipRequest,
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
  // What was passed over before, or was unpaid, counts too.
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
  await notify(trx, 'access');
  return { lostSince, wallets, numbers, waitingDeliveries: await waitingDeliveries(trx) };
}

/** Numbers count by the UTC year: a turn of the year in the lost time began new ones. */
function yearsFrom(lostSince: number, now: number): readonly number[] {
  const [first, last] = [new Date(lostSince).getUTCFullYear(), new Date(now).getUTCFullYear()];
  return Array.from({ length: Math.max(1, last - first + 1) }, (_, index) => first + index);
}

/** Another copy sold, whose numbers nobody may have noted: it began once as far on, and what it sold comes after that. */
function beyondCopy(random: () => number): Pick<SkipRequest, 'times' | 'spread'> {
  return { times: 2, spread: MAX_SPREAD + Math.floor(random() * MAX_SPREAD) };
}

/**
 * Passes over what a failover may have lost or another copy may have handed out, on the database in use, and tells what lies on
 * the addresses that were passed over.
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
    await publishLostMoney(app, trx, await lostTransfers(trx, { wallet: { network, firstAddress, from } }), request.now);
  }
  return recovery;
}
