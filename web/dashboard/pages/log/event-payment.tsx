import type { EventPaymentView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import { useLocale } from '../../locale.tsx';
import { None } from '../payments/payment-table.tsx';

/** The payment that an event is about: its number and its amount. */
export function EventPayment({ payment, payment_name: name, payment_amount: money }: EventPaymentView) {
  const { fiat } = useLocale();
  if (payment === null) return <None />;
  const amount = money === null ? '' : ` · ${fiat(money.amount, money.currency)}`;
  return `${name ?? payment}${amount}`;
}
