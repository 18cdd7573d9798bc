import type { SaleView } from '../../../src/http/dashboard/till/contract.ts';
import { useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { Facts } from '../ui/value.tsx';
import { titleOf } from './coins.ts';
import css from './till.module.css';

interface ReceiptProps {
  readonly sale: SaleView;
  readonly scope: Scope;
}

/** The receipt, which only the printer shows: 80 mm wide, black on white. */
export function Receipt({ sale, scope }: ReceiptProps) {
  const { t, fiat, coin, dateTime } = useLocale('till');
  const { person, projects } = useSignedIn();
  const { crypto, paid_by: by } = sale;
  const rows: readonly (readonly [name: string, value: string | null])[] = [
    [t('till_note'), sale.note],
    [t('till_tip'), sale.tip === null ? null : fiat(sale.tip, sale.currency)],
    [t('till_receipt_total'), fiat(sale.amount, sale.currency)],
    [t('coin'), crypto === null ? null : `${coin(crypto.received, crypto.asset)} · ${crypto.network_name}`],
    [t('status'), by === null ? titleOf(sale, t) : `${t('till_paid')} (${t(`till_by_${by}`)})`],
    [t('till_transaction'), sale.transaction_hash],
    [t('till_receipt_by'), person.name],
  ];
  return (
    <section className={css.receipt} aria-hidden="true">
      <h2>{projects.find(({ id }) => id === scope.project)?.name}</h2>
      <p>
        {by === null ? t('till_receipt_not') : t('till_receipt')} · {dateTime(sale.created_at)}
      </p>
      {scope.mode === 'test' ? <p>{t('till_receipt_test')}</p> : null}
      <Facts className={css.rows} areApart facts={rows} />
      <p>{sale.id}</p>
    </section>
  );
}
