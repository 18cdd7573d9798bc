import { useQuery } from '@tanstack/react-query';
import type { PaymentView } from '../../../../src/http/dashboard/payments/contract.ts';
import type { RefundableView } from '../../../../src/http/dashboard/refunds/contract.ts';
import { parseUnits } from '../../decimal.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope } from '../../scope.ts';
import { fiatDecimalsOf, type RateNow } from './refund-size.ts';

const RATE = 'GET /dashboard/api/projects/:project/:mode/payments/:payment/refunds/rate';
/** The prefix of the keys of all rates. */
export const RATE_KEY = 'refund-rate';
/** Well below the time for which the server lets an amount count. */
const EVERY_MS = 15_000;

interface FoundRate {
  readonly now: RateNow | null;
  readonly error: unknown;
}

/** What a typed amount is worth at the current rate, kept current; nothing while `isAsked` is false. */
export function useRateNow(payment: PaymentView, money: RefundableView, typed: string, isAsked: boolean): FoundRate {
  const { api } = useDashboard();
  const scope = useScope();
  const amount = typed.trim();
  const { asset, network } = money;
  const minor = parseUnits(amount, fiatDecimalsOf(payment.currency));
  const { data, error } = useQuery({
    queryKey: [RATE_KEY, scope.project, payment.id, asset, network, amount],
    queryFn: ({ signal }) =>
      api(RATE, { params: { ...scope, payment: payment.id }, query: { asset, network, amount } }, signal),
    enabled: isAsked && minor !== null && minor > 0n,
    staleTime: 0,
    gcTime: 0,
    retry: false,
    refetchInterval: EVERY_MS,
  });
  // An amount whose rate cannot be had any more is not shown on.
  return { now: error === null ? (data ?? null) : null, error };
}
