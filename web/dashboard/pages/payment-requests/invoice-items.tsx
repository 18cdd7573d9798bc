import {
  QUANTITY_DECIMALS,
  RATE_DECIMALS,
  totalsOf,
  type InvoiceItem,
} from '../../../../src/domain/invoice-document.ts';
import { INVOICE_LIMITS } from '../../../../src/domain/parse-invoice.ts';
import { fiatDecimals, formatDecimal, isFiat, parseDecimal } from '../../../../src/domain/money.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Below, Field } from '../../ui/field.tsx';
import { TextArea } from '../../ui/form.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import css from './invoices.module.css';

/** An item as it is typed. */
export interface TypedItem {
  readonly key: string;
  readonly description: string;
  readonly quantity: string;
  readonly price: string;
  /** Percent. */
  readonly vatRate: string;
}

export function newItem(vatRate: string): TypedItem {
  return { key: crypto.randomUUID(), description: '', quantity: '1', price: '', vatRate };
}

const NUMBERS = ['quantity', 'price', 'vatRate'] as const;
const PARAMS = { quantity: 'quantity', price: 'price', vatRate: 'vat_rate' } as const;

/** The server's names of an item's fields. */
export function itemFields(place: number): readonly string[] {
  return ['description', ...Object.values(PARAMS)].map((field) => `items.${place}.${field}`);
}

interface ItemsProps {
  readonly items: readonly TypedItem[];
  readonly currency: string;
  /** The rate of a new item. */
  readonly vatRate: string;
  readonly fault: unknown;
  readonly onItems: (items: readonly TypedItem[]) => void;
}

export function InvoiceItems({ items, currency, vatRate, fault, onItems }: ItemsProps) {
  const { t } = useLocale('payment-requests');
  return (
    <div className={css.items}>
      {items.map((item, place) => (
        <Item
          key={item.key}
          item={item}
          currency={currency}
          place={place}
          fault={fault}
          onChange={(change) => onItems(items.map((one) => (one === item ? { ...item, ...change } : one)))}
          onRemove={items.length === 1 ? null : () => onItems(items.filter((one) => one !== item))}
        />
      ))}
      <Below id="invoice-items" hint={undefined} problem={problemOf(fault, 'items')} />
      {items.length < INVOICE_LIMITS.items ? (
        <Button small icon="plus" onClick={() => onItems([...items, newItem(items.at(-1)?.vatRate ?? vatRate)])}>
          {t('invoice_add_item')}
        </Button>
      ) : null}
    </div>
  );
}

interface ItemProps extends Pick<ItemsProps, 'currency' | 'fault'> {
  readonly item: TypedItem;
  readonly place: number;
  readonly onChange: (change: Partial<TypedItem>) => void;
  /** Null: it is the only one. */
  readonly onRemove: (() => void) | null;
}

function Item({ item, currency, place, fault, onChange, onRemove }: ItemProps) {
  const { t } = useLocale('payment-requests', 'list');
  const { plain, example } = useTypedNumber();
  const problem = (field: keyof typeof PARAMS): string | null => {
    const typed = item[field];
    const isNoNumber = typed.trim() !== '' && plain(typed) === null;
    return isNoNumber
      ? t('not_a_number', { example: example(field === 'price' ? currency : undefined) })
      : problemOf(fault, `items.${place}.${PARAMS[field]}`);
  };
  return (
    <fieldset className={css.item}>
      <legend className={css.legend}>
        {t('invoice_item', { place: place + 1 })}
        {onRemove === null ? null : (
          <IconButton small icon="close" label={t('invoice_remove_item', { place: place + 1 })} onClick={onRemove} />
        )}
      </legend>
      <TextArea
        label={t('invoice_description')}
        rows={1}
        required
        value={item.description}
        problem={problemOf(fault, `items.${place}.description`)}
        onValue={(description) => onChange({ description })}
      />
      <div className={css.numbers}>
        {NUMBERS.map((field) => (
          <Field
            key={field}
            label={t(`invoice_${PARAMS[field]}`)}
            inputMode="decimal"
            max={20}
            required
            autoComplete="off"
            value={item[field]}
            problem={problem(field)}
            onValue={(text) => onChange({ [field]: text })}
          />
        ))}
      </div>
    </fieldset>
  );
}

interface TotalsProps {
  readonly items: readonly TypedItem[];
  readonly currency: string;
  readonly includesVat: boolean;
}

/** The sums of the items that are complete, added up as the server does. */
export function Totals({ items, currency, includesVat }: TotalsProps) {
  const { t, fiat, percent } = useLocale('payment-requests');
  const { plain } = useTypedNumber();
  if (!isFiat(currency)) return null;
  const decimals = fiatDecimals(currency);
  const complete = items.flatMap((item) => itemOf(item, decimals, plain) ?? []);
  const { net, rates, gross } = totalsOf(complete, includesVat);
  const shown = (minor: bigint): string => fiat(formatDecimal(minor, decimals), currency);
  return (
    <dl className={css.totals} aria-live="polite">
      <div>
        <dt>{t('invoice_net')}</dt>
        <dd>{shown(net)}</dd>
      </div>
      {rates.map(({ rate, vat }) => (
        <div key={rate}>
          <dt>{t('invoice_vat', { rate: percent(rate / 10 ** RATE_DECIMALS, RATE_DECIMALS) })}</dt>
          <dd>{shown(vat)}</dd>
        </div>
      ))}
      <div className={css.total}>
        <dt>{t('invoice_total')}</dt>
        <dd>{shown(gross)}</dd>
      </div>
    </dl>
  );
}

function itemOf(
  { description, quantity, price, vatRate }: TypedItem,
  decimals: number,
  plain: (typed: string) => string | null,
): InvoiceItem | null {
  const exact = (typed: string, places: number): bigint | null => {
    const text = plain(typed.slice(0, 20));
    return text === null ? null : parseDecimal(text, places);
  };
  const [count, unitMinor, rate] = [
    exact(quantity, QUANTITY_DECIMALS),
    exact(price, decimals),
    exact(vatRate, RATE_DECIMALS),
  ];
  if (count === null || unitMinor === null || rate === null || rate > BigInt(INVOICE_LIMITS.rate)) return null;
  return { description, quantity: count, unitMinor, rate: Number(rate) };
}
