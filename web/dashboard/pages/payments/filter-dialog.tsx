import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Field } from '../../ui/field.tsx';
import { Form } from '../../ui/form.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import css from './list-dialogs.module.css';
import { filterWordsQuery } from './list-queries.ts';
import { labelsQuery } from './queries.ts';
import { APIS, isAmount, type PaymentsSearch, type SearchChange } from './search.ts';

interface FilterDialogProps {
  readonly search: PaymentsSearch;
  readonly onFilter: (change: SearchChange) => void;
  readonly onClose: () => void;
}

/** All filters that have no control of their own above the list. */
export function FilterDialog({ search, onFilter, onClose }: FilterDialogProps) {
  const { t } = useLocale('list');
  const { api } = useDashboard();
  const scope = useScope();
  const words = useQuery(filterWordsQuery(api)).data;
  const labels = useQuery(labelsQuery(api, scope)).data ?? [];
  const [wanted, want] = useState<SearchChange>(search);
  const [isChecked, check] = useState(false);
  const set = (name: keyof PaymentsSearch) => (value: string) =>
    want((before) => ({ ...before, [name]: value.trim() === '' ? undefined : value.trim() }));
  const problems = problemsOf(wanted, t);
  const typed = (name: 'min' | 'max' | 'from' | 'to', label: string) => (
    <Field
      label={label}
      value={wanted[name] ?? ''}
      problem={isChecked ? problems[name] : null}
      onValue={set(name)}
      {...(name === 'from' || name === 'to' ? { type: 'date' } : { inputMode: 'decimal' as const })}
    />
  );
  const chosen = (name: 'api' | 'coin' | 'network' | 'currency' | 'label', options: Options) => (
    <WordField
      label={t(name === 'api' ? 'column_api' : name)}
      value={wanted[name]}
      options={options}
      onValue={set(name)}
    />
  );
  return (
    <Dialog title={t('filter')} description={t('filter_text')} wide onClose={onClose}>
      <Form
        onSubmit={() => {
          check(true);
          if (Object.values(problems).every((one) => one === null)) onFilter(wanted);
        }}
      >
        <div className={css.pairs}>
          {typed('min', t('amount_from'))}
          {typed('max', t('amount_to'))}
          {typed('from', t('day_from'))}
          {typed('to', t('day_to'))}
          {chosen('currency', same(words?.currencies))}
          {chosen('coin', same(words?.coins))}
          {chosen(
            'network',
            (words?.networks ?? []).map(({ name, label }) => [name, label]),
          )}
          {chosen(
            'api',
            APIS.map((one) => [one, t(`api_${one}`)]),
          )}
          {chosen('label', same(labels))}
        </div>
        <DialogActions confirm={t('filter')} onCancel={onClose} />
      </Form>
    </Dialog>
  );
}

type Options = readonly (readonly [value: string, text: string])[];

const same = (words: readonly string[] = []): Options => words.map((word) => [word, word]);

interface WordFieldProps {
  readonly label: string;
  readonly value: string | undefined;
  readonly options: Options;
  readonly onValue: (value: string) => void;
}

/** A list with "any" first. What the URL asks for stands in it, even if nobody offers it. */
function WordField({ label, value = '', options, onValue }: WordFieldProps) {
  const { t } = useLocale('list');
  const isOffered = value === '' || options.some(([one]) => one === value);
  const all: Options = [['', t('any')], ...(isOffered ? [] : [[value, value] as const]), ...options];
  return <SelectField label={label} value={value} options={all} onValue={onValue} />;
}

function problemsOf({ min, max, from, to }: SearchChange, t: ReturnType<typeof useLocale>['t']) {
  const wrong = (text: string | undefined): string | null =>
    text === undefined || isAmount(text) ? null : t('filter_amount_wrong');
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
