import { useState } from 'react';
import type { ListedRefundView } from '../../../../src/http/dashboard/refunds/contract.ts';

/** The most refunds that one transaction pays. */
const MAX_CHOSEN = 50;

export interface ChosenRefunds {
  readonly refunds: readonly ListedRefundView[];
  /** Whether a refund can be signed together with those that are chosen. */
  readonly isOffered: (refund: ListedRefundView) => boolean;
  readonly choose: (refund: ListedRefundView, isChosen: boolean) => void;
  readonly clear: () => void;
}

/** The refunds that a person chose to sign together: of one network, as the first one says. */
export function useChosen(): ChosenRefunds {
  const [refunds, set] = useState<readonly ListedRefundView[]>([]);
  const [first] = refunds;
  const isIn = ({ id }: ListedRefundView): boolean => refunds.some((one) => one.id === id);
  return {
    refunds,
    isOffered: (refund) =>
      isIn(refund) ||
      (refund.is_joinable &&
        refund.can.sign &&
        (first === undefined || first.network === refund.network) &&
        refunds.length < MAX_CHOSEN),
    choose: (refund, isChosen) =>
      set((before) => {
        const others = before.filter(({ id }) => id !== refund.id);
        return isChosen ? [...others, refund] : others;
      }),
    clear: () => set([]),
  };
}
