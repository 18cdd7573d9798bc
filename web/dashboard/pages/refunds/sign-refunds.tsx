import type { ListedRefundView } from '../../../../src/http/dashboard/contract/refund-list.ts';
import { SignDialog } from '../payments/sign-dialog.tsx';

interface SignRefundsProps {
  /** At least one; several are of one UTXO network. */
  readonly refunds: readonly ListedRefundView[];
  readonly onClose: () => void;
}

/** What to sign for refunds. */
export function SignRefunds({ refunds: [refund], onClose }: SignRefundsProps) {
  return refund === undefined ? null : <SignDialog payment={refund.payment.id} refund={refund.id} onClose={onClose} />;
}
