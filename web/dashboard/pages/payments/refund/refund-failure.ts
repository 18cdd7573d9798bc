import type { useLocale } from '../../../locale.tsx';

const FAILURES = ['cancelled', 'test_failure', 'unpaid'] as const;

/** Why a refund failed. */
export function failureText(reason: string, t: ReturnType<typeof useLocale<'detail'>>['t']): string {
  const known = FAILURES.find((one) => one === reason);
  return known === undefined ? reason : t(`failure_${known}`);
}
