import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useState, type KeyboardEvent } from 'react';
import { useLocale } from '../locale.tsx';
import { searchQuery } from '../pages/payments/queries.ts';
import dialogCss from '../ui/dialog.module.css';
import { Icon } from '../ui/icons.tsx';
import css from './palette.module.css';
import { useNavigate } from '@tanstack/react-router';
import type { SearchHit } from '../../../src/http/dashboard/payment-list/contract.ts';
import type { Command } from './commands.ts';
import { useSignOut } from './account-button.tsx';
import type { Scope } from '../scope.ts';
import { groupOf } from '../status-groups.ts';

interface PaletteProps {
  readonly commands: readonly Command[];
  readonly scope: Scope | null;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** The command palette: does what a person can do from every page, and finds pages and payments. */
export function Palette({ commands, scope, onClose, onHelp }: PaletteProps) {
  const { t } = useLocale('palette');
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, choose] = useState(0);
  const { entries, isSearching } = useFound(commands, scope, text, onHelp);
  const current = Math.min(chosen, entries.length - 1);
  useEffect(() => {
    document.getElementById(`${id}-${current}`)?.scrollIntoView({ block: 'nearest' });
  }, [id, current]);
  const run = (entry: PaletteEntry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const press = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step !== undefined) choose((current + step + entries.length) % Math.max(1, entries.length));
    else if (event.key === 'Enter') run(entries[current]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog.Root open onOpenChange={(isOpen) => (isOpen ? undefined : onClose())}>
      <Dialog.Portal>
        <Dialog.Backdrop className={dialogCss.backdrop} />
        <Dialog.Viewport className={dialogCss.viewport}>
          <Dialog.Popup className={css.popup} aria-label={t('search')}>
            <SearchLine
              id={id}
              text={text}
              current={entries.length > 0 ? current : null}
              onText={(typed) => {
                setText(typed);
                choose(0);
              }}
              onKey={press}
            />
            <Results id={id} entries={entries} current={current} onPoint={choose} onRun={run} />
            {entries.length > 0 ? null : (
              <p className={css.none} role="status">
                {t(isSearching ? 'searching' : 'nothing_found')}
              </p>
            )}
          </Dialog.Popup>
        </Dialog.Viewport>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

interface ResultsProps {
  readonly id: string;
  readonly entries: readonly PaletteEntry[];
  /** The index of the selected entry. */
  readonly current: number;
  readonly onPoint: (index: number) => void;
  readonly onRun: (entry: PaletteEntry) => void;
}

/** The results in their groups. */
function Results({ id, entries, current, onPoint, onRun }: ResultsProps) {
  const { t } = useLocale('palette');
  const groups = [...Map.groupBy(entries.entries(), ([, { group }]) => group)];
  return (
    <div className={css.list} id={`${id}-list`} role="listbox" aria-label={t('search_results')}>
      {groups.map(([group, shown]) => (
        <div key={group} role="group" aria-labelledby={`${id}-${group}`}>
          <div className={css.group} id={`${id}-${group}`}>
            {t(`palette_${group}`)}
          </div>
          {shown.map(([index, entry]) => (
            <Option
              key={entry.key}
              id={`${id}-${index}`}
              entry={entry}
              isCurrent={index === current}
              onPoint={() => onPoint(index)}
              onRun={() => onRun(entry)}
            />
          ))}
        </div>
      ))}
    </div>
  );
}

interface SearchLineProps {
  readonly id: string;
  readonly text: string;
  /** The index of the selected result; null if there is none. */
  readonly current: number | null;
  readonly onText: (text: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function SearchLine({ id, text, current, onText, onKey }: SearchLineProps) {
  const { t } = useLocale('palette');
  return (
    <div className={css.field}>
      <Icon name="search" />
      <input
        type="text"
        role="combobox"
        aria-label={t('search_everything')}
        aria-expanded={current !== null}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-activedescendant={current === null ? undefined : `${id}-${current}`}
        autoComplete="off"
        spellCheck={false}
        maxLength={255}
        placeholder={t('search_hint')}
        value={text}
        onChange={(event) => onText(event.currentTarget.value)}
        onKeyDown={onKey}
      />
      <kbd>Esc</kbd>
    </div>
  );
}

interface OptionProps {
  readonly id: string;
  readonly entry: PaletteEntry;
  readonly isCurrent: boolean;
  readonly onPoint: () => void;
  readonly onRun: () => void;
}

function Option({ id, entry, isCurrent, onPoint, onRun }: OptionProps) {
  return (
    <div id={id} role="option" aria-selected={isCurrent} className={css.option} onPointerMove={onPoint} onClick={onRun}>
      <Icon name={entry.icon} size={16} />
      <span>{entry.text}</span>
      {entry.detail === undefined ? null : <small>{entry.detail}</small>}
      {entry.keys === undefined || entry.keys === '' ? null : <kbd>{entry.keys}</kbd>}
    </div>
  );
}

/** Shorter texts search only pages and actions. */
const MIN_SEARCH = 2;

function useFound(commands: readonly Command[], scope: Scope | null, text: string, onHelp: () => void) {
  const wanted = useDeferredValue(text.trim());
  const searches = scope !== null && wanted.length >= MIN_SEARCH;
  const found = useQuery({ ...searchQuery(scope ?? { project: '', mode: 'test' }, wanted), enabled: searches });
  const payments = usePaymentEntries(scope, searches ? (found.data?.data ?? []) : []);
  const fixed = [...commands, ...useOwnEntries(onHelp)];
  const words = text.trim().toLowerCase().split(/\s+/);
  const named = fixed.filter((entry) => words.every((word) => entry.text.toLowerCase().includes(word)));
  return { entries: [...payments, ...named], isSearching: searches && found.isFetching };
}

interface PaletteEntry extends Omit<Command, 'group' | 'keys'> {
  readonly group: Command['group'] | 'found' | 'you';
  readonly detail?: string;
  /** The keyboard shortcut. */
  readonly keys?: string;
}

/** The payments that match. */
function usePaymentEntries(scope: Scope | null, hits: readonly SearchHit[]): readonly PaletteEntry[] {
  const { t, fiat } = useLocale('palette');
  const navigate = useNavigate();
  return hits.map(({ found_by, payment }): PaletteEntry => {
    const { mode } = payment;
    const detail = [
      t(`group_${groupOf(payment.status)}`),
      t(`found_${found_by}`),
      mode === scope?.mode ? '' : t(`found_in_${mode}`),
    ];
    return {
      key: payment.id,
      group: 'found',
      icon: 'payments',
      text: `${fiat(payment.amount, payment.currency)} · ${payment.order_id ?? payment.transaction_number ?? payment.id}`,
      detail: detail.filter((part) => part !== '').join(' · '),
      run: () => {
        if (scope === null) return;
        void navigate({
          to: '/projects/$project/$mode/payments/$payment',
          params: { project: scope.project, mode, payment: payment.id },
        });
      },
    };
  });
}

/** The person's own account, and the list of keys. */
function useOwnEntries(onHelp: () => void): readonly PaletteEntry[] {
  const { t } = useLocale('palette');
  const navigate = useNavigate();
  const signOut = useSignOut();
  const account = (): void => void navigate({ to: '/account' });
  return [
    { key: 'account', group: 'you', icon: 'user', text: t('account_settings'), run: account },
    { key: 'help', group: 'you', icon: 'keyboard', text: t('shortcuts'), keys: '?', run: onHelp },
    { key: 'sign-out', group: 'you', icon: 'sign-out', text: t('sign_out'), run: () => void signOut() },
  ];
}
