import type { ChainSource } from '../../rails/chain.ts';
import { lockCursor, type Cursor } from '../../store/chains/chain.ts';
import { dropPayouts, waitingPayouts } from '../../store/refunds/refund-payouts.ts';
import type { App } from '../context.ts';

/** Where the mempool is not listed: asks the nodes for payouts that a reorganisation removed from their block. */
export interface PayoutWatch {
  /** Drops payouts that are gone. `cursor` is the end of the node's chain, which has been read. */
  dropGone(cursor: Cursor): Promise<void>;
}

export function createPayoutWatch(app: App, source: ChainSource): PayoutWatch {
  const { network } = source;
  let missing: ReadonlySet<string> = new Set();

  return {
    dropGone: async (cursor) => {
      if (source.locate === undefined) return;
      const hashes = [...new Set((await waitingPayouts(app.db, network)).map(({ hash }) => hash))];
      const places = await source.locate(hashes);
      const gone = hashes.filter((hash) => {
        const place = places.get(hash);
        // In a block that was already read it pays nothing any more: the transaction failed there.
        return place?.kind === 'block' ? place.height <= cursor.height : place?.kind === 'nowhere';
      });
      // Twice in a row, because a node puts transactions of removed blocks back into its pool a moment later.
      const given = gone.filter((hash) => missing.has(hash));
      missing = new Set(gone);
      if (given.length === 0) return;
      await app.db.transaction().execute(async (trx) => {
        const locked = await lockCursor(trx, network);
        if (locked?.hash === cursor.hash) await dropPayouts(trx, network, given, app.clock());
      });
    },
  };
}
