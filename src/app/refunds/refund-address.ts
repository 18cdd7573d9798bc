import { ASSET_CODES } from '../../domain/asset.ts';
import type { Refund } from '../../domain/refund.ts';
import { checkPayoutAddress, matchingAddress } from '../../rails/address.ts';
import type { Database, Trx } from '../../store/database.ts';
import { findPayments } from '../../store/payments.ts';
import { ownerOfAddress } from '../../store/issued-addresses.ts';
import type { App } from '../context.ts';
import type { RefundRefusal } from './refund-money.ts';

/** `notYours`: it is a good address, but no wallet of the customer's. `message` names the rule and the way out. */
type RefundAddressCheck =
  | { readonly kind: 'ok'; readonly address: string }
  | { readonly kind: 'invalid'; readonly message: string; readonly notYours: boolean };

const OWN_WALLET = 'Give one of your own wallet.';

/**
 * Checks where a refund is to go. Beside a wrong address it refuses what nobody has the key of, and every address that
 * takes payments here: the next payment of the same amount to it would look as if the refund had been paid.
 */
export async function checkRefundAddress(
  app: App,
  executor: Database | Trx,
  refund: Pick<Refund, 'projectId' | 'mode' | 'network' | 'paymentId'>,
  text: string,
): Promise<RefundAddressCheck> {
  const { projectId, mode, network, paymentId } = refund;
  const rail = app.railFor(mode);
  const contracts = ASSET_CODES.flatMap((asset) => rail.evmChain({ asset, network })?.contract ?? []);
  const checked = checkPayoutAddress(network, text.trim(), rail.payoutChain(network), contracts);
  if (checked.kind === 'invalid') return { ...checked, notYours: checked.deadEnd === true };
  const address = matchingAddress(network, checked.address);
  const [payment] = await findPayments(executor, [paymentId]);
  const own = payment?.quote?.network === network && matchingAddress(network, payment.quote.address) === address;
  // The sandbox's addresses are of nobody, and kept with their payment alone.
  const owner = own
    ? { paymentId }
    : rail.kind === 'chain'
      ? await ownerOfAddress(executor, { projectId, network, address })
      : null;
  if (owner === null) return checked;
  const message =
    owner.paymentId === paymentId
      ? `This is the address that the payment was made to. ${OWN_WALLET}`
      : `This address takes payments for a shop here. ${OWN_WALLET}`;
  return { kind: 'invalid', message, notYours: true };
}

/** As the chain writes it, so that the payout is recognised; null before the customer has said where. */
export function watchedAddress({ network, address }: Refund): string | null {
  return address === null ? null : matchingAddress(network, address);
}

/** The address that a refund is to go to, checked, as a refusal of the request's field where it is none. */
export async function refundAddress(
  app: App,
  trx: Trx,
  refund: Parameters<typeof checkRefundAddress>[2],
  text: string,
): Promise<{ readonly kind: 'ok'; readonly address: string } | RefundRefusal> {
  const checked = await checkRefundAddress(app, trx, refund, text);
  if (checked.kind === 'ok') return checked;
  const { notYours, message } = checked;
  return { kind: 'refused', param: 'address', message: `address: ${message}`, ...(notYours && { notYours }) };
}
