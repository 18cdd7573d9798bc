import { ASSET_CODES } from '../../domain/asset-code.ts';
import type { Refund } from '../../domain/refund.ts';
import { checkPayoutAddress, matchingAddress } from '../../rails/address.ts';
import type { Database, Trx } from '../../store/database.ts';
import { lockIssuing, ownerOfAddress } from '../../store/wallets/issued-addresses.ts';
import type { App } from '../context.ts';
import { isComing } from './coming-addresses.ts';
import { rejected, rejectedBy, type Rejected } from '../rejected.ts';
import { refusedAs, type RefundRefusal } from './refund-money.ts';

/** `notYours`: a valid address, but not of the customer's wallet. */
type RefundAddressCheck =
  | { readonly kind: 'ok'; readonly address: string }
  | { readonly kind: 'invalid'; readonly sentence: Rejected; readonly notYours: boolean };

const OWN_ADDRESS = rejected('refund_own_address');
const TAKES_PAYMENTS = rejected('refund_shop_address');

/**
 * Checks the address of a refund. Beside invalid addresses it refuses those whose key nobody has, and every address
 * that takes payments here, or will: a payment of the same amount to it would look like the refund's payout, and the
 * payout like a payment.
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
  if (checked.kind === 'invalid') {
    return { kind: 'invalid', sentence: rejectedBy(checked, 'address'), notYours: checked.deadEnd === true };
  }
  const address = matchingAddress(network, checked.address);
  const owner = await ownerOfAddress(executor, { projectId, network, address });
  if (owner?.paymentId === paymentId) return notOfCustomer(OWN_ADDRESS);
  const isTaken = owner !== null || (await isComing(app, executor, { projectId, network }, address));
  return isTaken ? notOfCustomer(TAKES_PAYMENTS) : checked;
}

function notOfCustomer(sentence: Rejected): Extract<RefundAddressCheck, { kind: 'invalid' }> {
  return { kind: 'invalid', sentence, notYours: true };
}

/**
 * The address in the form that the chain uses, so that the payout is recognised; null until the customer has entered
 * one.
 */
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
  let checked = await checkRefundAddress(app, trx, refund, text);
  if (checked.kind === 'ok') {
    const { projectId, network, mode } = refund;
    if (app.railFor(mode).kind === 'sandbox') return checked;
    await lockIssuing(trx, network);
    // The address may have been handed out since the check.
    const address = matchingAddress(network, checked.address);
    const owner = await ownerOfAddress(trx, { projectId, network, address });
    if (owner === null) return checked;
    checked = notOfCustomer(TAKES_PAYMENTS);
  }
  const { sentence, notYours: isNotYours } = checked;
  return { ...refusedAs('address', sentence), ...(isNotYours && { notYours: true }) };
}
