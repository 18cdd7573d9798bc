import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Checks, Choices } from '../../ui/choices.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { useTypedNumber } from '../../use-typed-number.ts';
import { CoinFields, type Offer } from './coin-fields.tsx';

type Fiat = Offer['currencies'][number];
const ASKED = ['email', 'name', 'note'] as const satisfies readonly (keyof NonNullable<
  BodyOf<'POST /dashboard/api/projects/:project/:mode/payment-requests'>['ask']
>)[];

/** The typed form of a request. */
export interface RequestForm {
  readonly title: string;
  /** Whether the payer types the amount. */
  readonly isTyped: boolean;
  readonly amount: string;
  readonly min: string;
  readonly max: string;
  /** Empty: the project's. */
  readonly currency: Fiat | '';
  readonly description: string;
  readonly reference: string;
  readonly often: 'once' | 'times' | 'always';
  readonly times: string;
  /** A day such as 2026-01-31; empty: no end. */
  readonly lastDay: string;
  /** Null: all that the project offers. */
  readonly coins: readonly string[] | null;
  readonly ask: readonly (typeof ASKED)[number][];
}

export interface FieldsProps {
  readonly form: RequestForm;
  readonly offer: Offer;
  readonly fault: unknown;
  readonly onChange: (change: Partial<RequestForm>) => void;
}

/** The amount, or the bounds of what the payer types. */
export function AmountFields(props: FieldsProps) {
  const { form, onChange } = props;
  const { t } = useLocale('payment-requests', 'list');
  return (
    <>
      <Choices
        label={t('amount')}
        value={form.isTyped ? 'typed' : 'fixed'}
        options={[
          { value: 'fixed', text: t('ask_fixed') },
          { value: 'typed', text: t('ask_typed') },
        ]}
        onValue={(value) => onChange({ isTyped: value === 'typed' })}
      />
      {form.isTyped ? (
        <>
          <AmountField {...props} label={t('ask_min')} of="min" param="min_amount" />
          <AmountField {...props} label={t('ask_max')} of="max" param="max_amount" />
        </>
      ) : (
        <AmountField {...props} label={t('ask_amount')} of="amount" param="amount" />
      )}
    </>
  );
}

interface AmountFieldProps extends FieldsProps {
  readonly label: string;
  readonly of: 'amount' | 'min' | 'max';
  readonly param: string;
}

function AmountField({ form, offer, fault, onChange, label, of, param }: AmountFieldProps) {
  const { t } = useLocale('payment-requests', 'list');
  const { plain, example } = useTypedNumber();
  const typed = form[of];
  const currency = form.currency === '' ? (offer.defaults.currency ?? 'USD') : form.currency;
  const isNoNumber = typed.trim() !== '' && plain(typed) === null;
  return (
    <Field
      label={label}
      value={typed}
      inputMode="decimal"
      max={20}
      required={of === 'amount'}
      autoComplete="off"
      problem={isNoNumber ? t('not_a_number', { example: example(currency) }) : problemOf(fault, param)}
      unit={
        <Select
          label={t('currency')}
          value={currency}
          options={offer.currencies.map((one) => [one, one])}
          onValue={(value) => onChange({ currency: offer.currencies.find((one) => one === value) ?? '' })}
        />
      }
      onValue={(value) => onChange({ [of]: value })}
    />
  );
}

/** How often the request can be paid, and until when. */
export function TimesFields({ form, fault, onChange }: FieldsProps) {
  const { t } = useLocale('payment-requests');
  return (
    <>
      <Choices
        label={t('ask_often')}
        value={form.often}
        options={[
          { value: 'once', text: t('ask_once'), detail: form.isTyped ? undefined : t('ask_once_detail') },
          { value: 'times', text: t('ask_number') },
          { value: 'always', text: t('ask_always') },
        ]}
        onValue={(often) => onChange({ often })}
      />
      {form.often === 'times' ? (
        <Field
          label={t('ask_payments')}
          inputMode="numeric"
          pattern="[1-9][0-9]{0,4}|100000"
          title={t('ask_number_rule')}
          autoComplete="off"
          value={form.times}
          required
          problem={problemOf(fault, 'max_payments')}
          onValue={(times) => onChange({ times })}
        />
      ) : null}
      <Field
        label={t('ask_last_day')}
        type="date"
        value={form.lastDay}
        hint={t('ask_last_day_hint')}
        problem={problemOf(fault, 'expires_at')}
        onValue={(lastDay) => onChange({ lastDay })}
      />
    </>
  );
}

/** The coins that payers choose from, and what they are asked. */
export function PayerFields({ form, offer, fault, onChange }: FieldsProps) {
  const { t } = useLocale('payment-requests');
  return (
    <>
      <CoinFields coins={form.coins} offer={offer} fault={fault} onCoins={(coins) => onChange({ coins })} />
      <Checks
        label={t('ask_payer_data')}
        chosen={form.ask}
        options={ASKED.map((one) => ({ value: one, text: t(`ask_for_${one}`) }))}
        onChosen={(ask) => onChange({ ask })}
      />
    </>
  );
}
