import type { PaymentRow } from '../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Ago } from '../../ui/value.tsx';
import type { ListColumn } from './columns.ts';
import { None } from './payment-table.tsx';

interface ExtraCellProps {
  readonly payment: PaymentRow;
  readonly column: ListColumn;
}

/** A column that people can add to the default ones. */
export function ExtraCell({ payment, column }: ExtraCellProps) {
  const { t } = useLocale('list');
  const { crypto, transaction_number: number } = payment;
  switch (column) {
    case 'received':
      return crypto === null ? <None /> : `${crypto.received} ${crypto.asset}`;
    case 'description':
      return payment.description ?? <None />;
    case 'number':
      return number ?? <None />;
    case 'id':
      return <code title={payment.id}>{payment.id}</code>;
    case 'api':
      return t(`api_${payment.api}`);
    case 'completed':
      return payment.completed_at === null ? <None /> : <Ago iso={payment.completed_at} />;
    case 'expires':
      return <Ago iso={payment.expires_at} />;
    default:
      return null;
  }
}
