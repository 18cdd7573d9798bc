import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { LinkButton } from '../../ui/button.tsx';
import { Select } from '../../ui/field.tsx';
import { Icon } from '../../ui/icons.tsx';
import css from './payments-page.module.css';
import { isNarrowed, PERIODS, STATUS_GROUPS, UNUSUAL, type PaymentsSearch, type SearchChange } from './search.ts';

interface FiltersProps {
  readonly search: PaymentsSearch;
  readonly onChange: (change: SearchChange) => void;
}

const keysOf = <Key extends string>(table: Readonly<Record<Key, unknown>>): readonly Key[] =>
  Object.keys(table) as Key[];

/** The list's filters, which are kept in the URL, so that they survive a reload and can be shared. */
export function Filters({ search, onChange }: FiltersProps) {
  const { t } = useLocale();
  const scope = useScope();
  const { status: _status, ...rest } = search;
  return (
    <>
      <nav className={css.tabs} aria-label={t('by_status')}>
        {[undefined, ...keysOf(STATUS_GROUPS)].map((status) => (
          <Link
            key={status ?? 'all'}
            to="/projects/$project/$mode/payments"
            params={scope}
            search={{ ...rest, ...(status !== undefined && { status }) }}
            activeOptions={{ exact: true, includeSearch: true }}
            replace
          >
            {t(status === undefined ? 'all' : `group_${status}`)}
          </Link>
        ))}
      </nav>
      <div className={css.filters} role="search">
        <SearchField text={search.search ?? ''} onText={(text) => onChange({ search: text })} />
        <Select
          label={t('unusual')}
          value={search.exception ?? ''}
          options={[['', t('unusual_any')], ...UNUSUAL.map((one) => [one, t(`exception_${one}`)] as const)]}
          onValue={(value) => onChange({ exception: UNUSUAL.find((one) => one === value) })}
        />
        <Select
          label={t('created')}
          value={search.period ?? ''}
          options={[['', t('period_any')], ...keysOf(PERIODS).map((one) => [one, t(`period_${one}`)] as const)]}
          onValue={(value) => onChange({ period: keysOf(PERIODS).find((one) => one === value) })}
        />
        {isNarrowed(search) ? (
          <LinkButton
            onClick={() => onChange({ status: undefined, exception: undefined, search: undefined, period: undefined })}
          >
            {t('clear_filters')}
          </LinkButton>
        ) : null}
      </div>
    </>
  );
}

/** How long typing must pause before the search begins. */
const TYPING_MS = 250;
const MAX_SEARCH = 255;

interface SearchFieldProps {
  readonly text: string;
  readonly onText: (text: string | undefined) => void;
}

function SearchField({ text, onText }: SearchFieldProps) {
  const { t } = useLocale();
  const [typed, setTyped] = useState(text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // The URL changed, for example by the browser's back button.
  useEffect(() => setTyped(text), [text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const send = (value: string, inMs: number): void => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => onText(value.trim() === '' ? undefined : value.trim()), inMs);
  };
  return (
    <div className={css.search}>
      <Icon name="search" size={16} />
      <input
        type="search"
        aria-label={t('search_payments')}
        placeholder={t('search_payments')}
        maxLength={MAX_SEARCH}
        spellCheck={false}
        autoComplete="off"
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value);
          send(event.currentTarget.value, TYPING_MS);
        }}
        onKeyDown={(event) => {
          if (event.key === 'Enter') send(event.currentTarget.value, 0);
          if (event.key === 'Escape') event.currentTarget.blur();
        }}
      />
    </div>
  );
}
