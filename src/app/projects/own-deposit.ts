import { DEPOSIT_FACTORY, depositAddress, FIRST_DEPOSIT_FACTORY } from '../../rails/evm/deposit.ts';
import type { Trx } from '../../store/database.ts';
import { hasIssuedAddress } from '../../store/wallets/issued-addresses.ts';
import type { WalletKind } from '../../store/schema/wallets.ts';
import { treasuriesOf } from '../../store/wallets/wallets.ts';
import type { App } from '../context.ts';

/** How many unissued deposits of each treasury are recognized: more than a preview shows. */
const RECOGNIZED = 50;

/** Whether a treasury's address is that of a deposit contract of this project on any network. */
export async function isOwnDeposit(
  db: App['db'] | Trx,
  projectId: string,
  kind: WalletKind,
  treasury: string,
): Promise<boolean> {
  if (kind !== 'treasury') return false;
  if (await hasIssuedAddress(db, projectId, treasury.toLowerCase())) return true;
  return (await treasuriesOf(db, projectId)).some((own) =>
    [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY].some((factory) =>
      Array.from({ length: RECOGNIZED }, (_, index) => depositAddress(own, index, factory)).includes(treasury),
    ),
  );
}
