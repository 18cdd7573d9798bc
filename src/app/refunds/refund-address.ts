import { ASSET_CODES } from '../../domain/asset.ts';
import type { Refund } from '../../domain/refund.ts';
import { checkPayoutAddress, matchingAddress } from '../../rails/address.ts';
import type { Database, Trx } from '../../store/database.ts';
import { findPayments } from '../../store/payments.ts';
import { ownerOfAddress } from '../../store/issued-addresses.ts';
import type { App } from '../context.ts';
import type { RefundRefusal } from './refund-money.ts';

/** `notYours`: a valid address, but not of the customer's wallet. `message` names the rule and the way out. */
type RefundAddressCheck =
  | { readonly kind: 'ok'; readonly address: string }
  | { readonly kind: 'invalid'; readonly message: string; readonly notYours: boolean };

const OWN_WALLET = 'Give one of your own wallet.';

/**
 * Checks the address of a refund. Apart from invalid addresses it refuses those that nobody has the key of, and every
 * address that takes payments here: the next payment of the same amount to it would look like the refund's payout.
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
  // Sandbox addresses belong to nobody and are stored only with their payment.
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

/** The address as the chain writes it, so that the payout is recognised; null until the customer has entered one. */
export function watchedAddress({ network, address }: Refund): string | null {
  return address === null ? null : matchingAddress(network, address);
}

/** The checked address of a refund, or a refusal that names the request's field. */
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
