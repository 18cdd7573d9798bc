import { setImmediate } from 'node:timers/promises';
import { matchingAddress } from '../rails/address.ts';
import type { ChainSource, ChainTransfer } from '../rails/chain.ts';
import type { WalletOpener } from '../rails/wallet.ts';
import {
  findUnissued,
  forgetIssued,
  saveSkippedWatch,
  unwatchedAhead,
  unwatchedSkipped,
  watchUnissued,
  type UnissuedAddress,
  type UnwatchedRange,
} from '../store/unissued.ts';
import type { App } from './context.ts';

/**
 * How far beyond a wallet's next address money is looked for: a restored copy of it begins at least a thousand further on
 * (recover.ts), and has to be seen by the one that it is a copy of.
 */
const WATCHED_AHEAD = 2_000;
const LEAST_AHEAD = 1_500;
/** An address costs a tenth of a millisecond of the processor: so many in one go, then whoever waits gets a turn. */
const PIECE = 50;
const WALLETS_AT_ONCE = 10;

/** Watches addresses of wallets that this database gave to nobody: those passed over, and those that come next. */
export interface UnissuedWatch {
  /** Which of these transfers' addresses are such ones, by address. What was passed over is watched whole before that. */
  find(transfers: readonly ChainTransfer[]): Promise<ReadonlyMap<string, UnissuedAddress>>;
}

export function createUnissuedWatch(
  { db }: Pick<App, 'db'>,
  { network }: Pick<ChainSource, 'network'>,
  openWallet: WalletOpener,
): UnissuedWatch {
  /** Watches the addresses of a range; true when all are. A wallet of another chain of the network has none here. */
  async function watch(
    { firstAddress, kind, source, from, to }: UnwatchedRange,
    onPiece: (watchedTo: number) => Promise<void> = async () => {},
  ): Promise<void> {
    const deriver = openWallet(network, { kind, text: source });
    if (deriver === null) return;
    for (let start = from; start < to; start += PIECE) {
      const count = Math.min(PIECE, to - start);
      const addresses = deriver
        .addressesAt(start, count)
        .map((address, place) => ({ address: matchingAddress(network, address), index: start + place }));
      await watchUnissued(db, network, firstAddress, addresses);
      await onPiece(start + count);
      await setImmediate();
    }
  }

  return {
    find: async (transfers) => {
      for (const range of await unwatchedSkipped(db, network)) {
        await watch(range, (watchedTo) => saveSkippedWatch(db, network, range, watchedTo));
      }
      const limits = { least: LEAST_AHEAD, most: WATCHED_AHEAD, limit: WALLETS_AT_ONCE };
      for (const range of await unwatchedAhead(db, network, limits)) {
        await forgetIssued(db, network, range.firstAddress);
        await watch(range);
      }
      const addresses = [...new Set(transfers.map(({ address }) => address))];
      return new Map((await findUnissued(db, network, addresses)).map((one) => [one.address, one]));
    },
  };
}
