import { requiredUnits, sameQuote, type Exception, type Payment, type Received } from './payment.ts';
import { isFinal } from './status.ts';

/** The irregularity of the payment's money: the first that applies of reorged, paid_late, underpaid, overpaid. */
export function exceptionOf(payment: Payment): Exception {
  const { quote, received } = payment;
  if (quote === null) return 'none';
  const required = requiredUnits(quote);
  const { all, inTime } = received;
  if (payment.completedOnUnits !== null && all.minedUnits < payment.completedOnUnits) return 'reorged';
  const lateMoney = all.seenUnits > inTime.seenUnits && inTime.seenUnits < required;
  // The payment ended before the money that is now in blocks was seen: the node was behind, or the chain was
  // reorganised.
  const ended = isFinal(payment.status) && payment.status !== 'completed';
  const minedAfterEnd = ended && all.minedUnits >= required;
  // Nothing was seen when it was cancelled, so any money came late, even in a block with an earlier date.
  const afterCancel = payment.cancelledAt !== null && all.seenUnits > 0n;
  if (lateMoney || minedAfterEnd || afterCancel) return 'paid_late';
  if (all.seenUnits > 0n && all.seenUnits < required) return 'underpaid';
  // An unmined transfer may still be replaced by the one beside it.
  if (all.minedUnits > quote.owedUnits + quote.toleranceUnits) return 'overpaid';
  return 'none';
}

/** Whether everything derived from the payment's money is the same. */
export function sameMoney(before: Payment, after: Payment): boolean {
  const same = (a: Received, b: Received): boolean =>
    a.transactionHash === b.transactionHash &&
    (['all', 'inTime'] as const).every(
      (part) =>
        a[part].seenUnits === b[part].seenUnits &&
        a[part].minedUnits === b[part].minedUnits &&
        a[part].confirmedUnits === b[part].confirmedUnits,
    );
  return (
    same(before.received, after.received) &&
    after.transactionHash === before.transactionHash &&
    after.quote !== null &&
    sameQuote(before.quote, after.quote) &&
    exceptionOf(after) === before.exception
  );
}
