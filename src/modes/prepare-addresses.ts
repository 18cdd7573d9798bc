import type { Network } from '../domain/networks.ts';
import type { DeriveAddresses } from '../rails/derive-addresses.ts';
import type { Database } from '../store/database.ts';
import { busiestWallets } from '../store/wallets/wallets.ts';

/** More wallets than most services have. */
const MAX_PREPARED = 20;

/** After a start, derives ahead the next addresses of the wallets that are most likely to be needed. */
export async function prepareAddresses(
  db: Database,
  networks: readonly Network[],
  nextAddresses: DeriveAddresses,
): Promise<void> {
  if (networks.length === 0) return;
  for (const { network, kind, source, nextIndex } of await busiestWallets(db, networks, MAX_PREPARED)) {
    await nextAddresses(network, { kind, text: source }, nextIndex, 0);
  }
}
