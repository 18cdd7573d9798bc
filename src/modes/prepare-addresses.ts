import { setImmediate } from 'node:timers/promises';
import type { Network } from '../domain/networks.ts';
import type { AddressesAhead } from '../rails/addresses-ahead.ts';
import type { Database } from '../store/database.ts';
import { busiestWallets } from '../store/wallets.ts';

/** Opening a wallet takes some milliseconds. */
const MAX_PREPARED = 20;

/**
 * Opens the wallets most likely to be needed after a start, so that their next addresses are derived while the process
 * is idle.
 */
export async function prepareAddresses(
  db: Database,
  networks: readonly Network[],
  addresses: AddressesAhead,
): Promise<void> {
  if (networks.length === 0) return;
  for (const { network, kind, source, nextIndex } of await busiestWallets(db, networks, MAX_PREPARED)) {
    await setImmediate();
    addresses.of(network, { kind, text: source }, nextIndex, 0);
  }
}
