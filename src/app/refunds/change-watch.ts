import type { Network } from '../../domain/networks.ts';
import { watchedCount } from '../../domain/change-index.ts';
import type { ChainSource, ChainTransfer } from '../../rails/chain.ts';
import {
  findChange,
  saveChangeWatch,
  walletOfChange,
  walletsWithoutChangeWatch,
  watchChange,
  watchedChangeCount,
  type ChangeAddress,
} from '../../store/refunds/change.ts';
import type { FoundTransfer } from '../payments/chain-money.ts';
import type { App } from '../context.ts';
import type { ChangeOutput } from '../../store/refunds/change.ts';

/**
 * Deriving an address takes 0.3 ms of CPU time: the first twenty addresses of this many wallets are derived at once.
 */
const WALLETS_AT_ONCE = 10;

/**
 * The watched change addresses that these transfers pay. New wallets are watched from here on, and where an address was
 * paid, the addresses after it too. One indexed query for everything but new addresses.
 */
export async function changeWatching(
  app: Pick<App, 'db'>,
  { network, spending }: ChainSource,
  transfers: readonly ChainTransfer[],
): Promise<ReadonlyMap<string, ChangeAddress>> {
  if (!spending) return new Map();
  for (const wallet of await walletsWithoutChangeWatch(app.db, network, WALLETS_AT_ONCE)) {
    const addressOf = spending.changeOf({ kind: wallet.kind, text: wallet.source });
    if (addressOf !== null) await watchChain(app, network, addressOf, []);
    await saveChangeWatch(app.db, network, wallet, addressOf?.(0) ?? null);
  }
  const addresses = [...new Set(transfers.map((transfer) => transfer.address))];
  for (;;) {
    const watched = await findChange(app.db, network, addresses);
    const grown = await Promise.all(
      [...Map.groupBy(watched, ({ firstChangeAddress }) => firstChangeAddress)].map(async ([first, paid]) => {
        const seen = paid.map(({ index }) => index);
        if ((await watchedChangeCount(app.db, network, first)) >= watchedCount(seen)) return false;
        const wallet = await walletOfChange(app.db, network, first);
        const addressOf = wallet === null ? null : spending.changeOf({ kind: wallet.kind, text: wallet.source });
        if (addressOf === null) return false;
        await watchChain(app, network, addressOf, seen);
        return true;
      }),
    );
    if (!grown.includes(true)) return new Map(watched.map((one) => [one.address, one]));
  }
}

/** Watches as much of a change chain as a wallet scans after seeing these indexes. */
export async function watchChain(
  app: Pick<App, 'db'>,
  network: Network,
  addressOf: (index: number) => string,
  seen: Iterable<number>,
): Promise<void> {
  const firstChangeAddress = addressOf(0);
  const from = await watchedChangeCount(app.db, network, firstChangeAddress);
  const added = Array.from({ length: Math.max(0, watchedCount(seen) - from) }, (_, place) => {
    const index = from + place;
    return { network, address: addressOf(index), firstChangeAddress, index };
  });
  await watchChange(app.db, added);
}

/** The transfers that pay change addresses. */
export function changeOutputs(
  network: Network,
  watched: ReadonlyMap<string, ChangeAddress>,
  found: readonly FoundTransfer[],
): readonly ChangeOutput[] {
  return found.flatMap(({ block, transfer }) =>
    watched.has(transfer.address)
      ? [
          {
            network,
            transactionHash: transfer.transactionHash,
            index: transfer.index,
            address: transfer.address,
            amountUnits: transfer.amount,
            blockHeight: block.height,
            blockHash: block.hash,
          },
        ]
      : [],
  );
}
