import { useQuery } from '@tanstack/react-query';
import { useState, type ComponentProps } from 'react';
import { PAYMENT_FILTERS } from '../../../../src/domain/payment-filters.ts';
import { asOptions, withAny } from '../log/log-filters.tsx';
import { useLocale } from '../../locale.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form, SelectField } from '../../ui/form.tsx';
import css from './list-dialogs.module.css';
import { filterWordsQuery } from './list-queries.ts';
import { labelsQuery } from './queries.ts';
import { PAYMENT_APIS } from '../../../../src/domain/payment.ts';
import { isAmount, MORE_FILTERS, type MoreFilter, type PaymentsSearch, type SearchChange } from './search.ts';
import { useScope } from '../../scope.ts';
import { useTypedNumber } from '../../use-typed-number.ts';

interface FilterDialogProps {
  readonly search: PaymentsSearch;
  readonly onFilter: (change: SearchChange) => void;
  readonly onClose: () => void;
}

/** All filters that have no control of their own above the list. */
export function FilterDialog({ search, onFilter, onClose }: FilterDialogProps) {
  const { t, number } = useLocale('list');
  const { plain } = useTypedNumber();
  const scope = useScope();
  const words = useQuery(filterWordsQuery).data;
  const labels = useQuery(labelsQuery(scope)).data ?? [];
  const [wanted, want] = useState<SearchChange>(search);
  const [isChecked, check] = useState(false);
  const set = (name: keyof PaymentsSearch) => (value: string) =>
    want((before) => ({ ...before, [name]: value.trim() === '' ? undefined : value.trim() }));
  const read = (typed: string | undefined): string | undefined =>
    typed === undefined ? undefined : (plain(typed) ?? typed);
  const asked = { ...wanted, min: read(wanted.min), max: read(wanted.max) };
  const problems = problemsOf(asked, t, number(49.99));
  const options: Readonly<Partial<Record<MoreFilter, Options>>> = {
    currency: asOptions(words?.currencies),
    coin: asOptions(words?.coins),
    network: (words?.networks ?? []).map(({ name, label }) => [name, label]),
    api: PAYMENT_APIS.map((one) => [one, t(`api_${one}`)]),
    label: asOptions(labels),
  };
  return (
    <Dialog title={t('filter')} description={t('filter_text')} wide onClose={onClose}>
      <Form
        onSubmit={() => {
          check(true);
          if (Object.values(problems).every((one) => one === null)) onFilter(asked);
        }}
      >
        <div className={css.pairs}>
          {MORE_FILTERS.map((name) => {
            const { value: kind, label } = PAYMENT_FILTERS[name];
            const common = { label: t(label), onValue: set(name) };
            const offered = options[name];
            return offered === undefined ? (
              <Field
                key={name}
                {...common}
                {...INPUTS[kind]}
                value={wanted[name] ?? ''}
                problem={isChecked ? problems[name] : null}
              />
            ) : (
              <SelectField
                key={name}
                {...common}
                value={wanted[name] ?? ''}
                options={withAny(t('any'), offered, wanted[name] ?? '')}
              />
            );
          })}
        </div>
        <DialogActions confirm={t('apply')} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

const INPUTS: Readonly<Record<string, Partial<ComponentProps<typeof Field>>>> = {
  day: { type: 'date' },
  amount: { inputMode: 'decimal' },
};

type Options = ReturnType<typeof asOptions>;

function problemsOf(
  { min, max, from, to }: SearchChange,
  t: ReturnType<typeof useLocale>['t'],
  example: string,
): Readonly<Partial<Record<MoreFilter, string | null>>> {
  const wrong = (text: string | undefined): string | null =>
    text === undefined || isAmount(text) ? null : t('not_a_number', { example });
  const [least, most] = [wrong(min), wrong(max)];
  const isReversed =
    min !== undefined && max !== undefined && least === null && most === null && Number(min) > Number(max);
  return {
    min: least ?? (isReversed ? t('filter_amount_order') : null),
    max: most,
    from: from !== undefined && to !== undefined && from > to ? t('filter_day_order') : null,
    to: null,
  };
}
