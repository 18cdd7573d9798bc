import type { Refund } from '../../domain/refund.ts';
import { OWED_WEI, type EtherShop } from '../chains/follow-chain.fixture.ts';
import { refundInstructions, type RefundInstructions } from './refund-instructions.ts';
import { inEnglish, type InEnglish } from './in-english.fixture.ts';
import { createRefund } from './create-refund.ts';

export const CUSTOMER = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

/** A refund of 10 USD unless said otherwise. */
export async function etherRefund(
  { app }: EtherShop,
  payment: { readonly id: string },
  {
    address = CUSTOMER,
    amountMinor = 1_000n,
  }: { readonly address?: string | null; readonly amountMinor?: bigint } = {},
): Promise<Refund> {
  const outcome = await createRefund(
    app,
    {
      projectId: app.projectId,
      mode: 'live',
      api: 'order',
      paymentId: payment.id,
      wanted: { amountMinor },
      address,
      reason: null,
    },
    null,
  );
  if (outcome.kind !== 'done') throw new Error(JSON.stringify(outcome));
  return outcome.refund;
}

/** An order of 30 USD that was paid and is completed. */
export async function paidOrder(shop: EtherShop) {
  const order = await shop.order();
  await shop.pay(order.address, OWED_WEI);
  await shop.advance(3);
  return order;
}

/** The shown instructions of a refund in ether. */
export async function showEther(
  { app }: EtherShop,
  { id }: Refund,
  notPaidBy: readonly string[] = [],
): Promise<InEnglish<RefundInstructions>> {
  const shown = await refundInstructions(app, id, () => null, notPaidBy);
  if (shown.kind !== 'done') throw new Error(shown.code);
  return inEnglish(shown);
}
