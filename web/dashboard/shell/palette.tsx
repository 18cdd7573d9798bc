import { Dialog } from '@base-ui/react/dialog';
import { useQuery } from '@tanstack/react-query';
import { useDeferredValue, useEffect, useId, useState, type KeyboardEvent } from 'react';
import { useLocale } from '../locale.tsx';
import { searchQuery } from '../pages/payments/queries.ts';
import dialogCss from '../ui/dialog.module.css';
import { Icon, type IconName } from '../ui/icons.tsx';
import css from './palette.module.css';
import { useNavigate } from '@tanstack/react-router';
import type { SearchHit } from '../../../src/http/dashboard/payment-list/contract.ts';
import { useSignedIn } from '../session.ts';
import { pagesFor } from './pages.ts';
import { useSignOut } from './account-button.tsx';
import { type Scope, firstMode } from '../scope.ts';
import { groupOf } from '../status-groups.ts';

interface PaletteProps {
  readonly scope: Scope | null;
  readonly onClose: () => void;
  readonly onHelp: () => void;
}

/** The command palette: finds pages, actions and payments. */
export function Palette({ scope, onClose, onHelp }: PaletteProps) {
  const { t } = useLocale();
  const id = useId();
  const [text, setText] = useState('');
  const [chosen, choose] = useState(0);
  const { entries, isSearching } = useFound(scope, text, onHelp);
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
            <div className={css.list} id={`${id}-list`} role="listbox" aria-label={t('search_results')}>
              {entries.map((entry, index) => (
                <Option
                  key={entry.key}
                  id={`${id}-${index}`}
                  entry={entry}
                  isCurrent={index === current}
                  onPoint={() => choose(index)}
                  onRun={() => run(entry)}
                />
              ))}
            </div>
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

interface SearchLineProps {
  readonly id: string;
  readonly text: string;
  /** The index of the selected result; null if there is none. */
  readonly current: number | null;
  readonly onText: (text: string) => void;
  readonly onKey: (event: KeyboardEvent) => void;
}

function SearchLine({ id, text, current, onText, onKey }: SearchLineProps) {
  const { t } = useLocale();
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
      {entry.keys === undefined ? null : <kbd>{entry.keys}</kbd>}
    </div>
  );
}

/** Shorter texts search only pages and actions. */
const MIN_SEARCH = 2;

function useFound(scope: Scope | null, text: string, onHelp: () => void) {
  const wanted = useDeferredValue(text.trim());
  const searches = scope !== null && wanted.length >= MIN_SEARCH;
  const found = useQuery({ ...searchQuery(scope ?? { project: '', mode: 'test' }, wanted), enabled: searches });
  const entries = usePaletteEntries(scope, text.trim(), searches ? (found.data?.data ?? []) : [], onHelp);
  return { entries, isSearching: searches && found.isFetching };
}

export interface PaletteEntry {
  readonly key: string;
  readonly icon: IconName;
  readonly text: string;
  readonly detail?: string;
  /** The keyboard shortcut. */
  readonly keys?: string;
  readonly run: () => void;
}

/** The palette's results: matching payments, then pages, projects and actions whose names contain the words. */
export function usePaletteEntries(
  scope: Scope | null,
  text: string,
  hits: readonly SearchHit[],
  onHelp: () => void,
): readonly PaletteEntry[] {
  const { t, fiat } = useLocale();
  const navigate = useNavigate();
  const words = text.toLowerCase().split(/\s+/);
  const fixed = useFixedEntries(scope, onHelp);
  const found = hits.map(({ found_by, payment }): PaletteEntry => {
    const { mode } = payment;
    const detail = [
      t(`group_${groupOf(payment.status)}`),
      t(`found_${found_by}`),
      mode === scope?.mode ? '' : t(`found_in_${mode}`),
    ];
    return {
      key: payment.id,
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
  return [...found, ...fixed.filter((entry) => words.every((word) => entry.text.toLowerCase().includes(word)))];
}

function useFixedEntries(scope: Scope | null, onHelp: () => void): readonly PaletteEntry[] {
  const { t } = useLocale();
  const navigate = useNavigate();
  const signOut = useSignOut();
  const session = useSignedIn();
  const { projects } = session;
  const project = projects.find(({ id }) => id === scope?.project);
  const pages = scope === null || project === undefined ? [] : pagesFor(project, session);
  return [
    ...pages.map((page) => ({
      key: page.to,
      icon: page.icon,
      text: t(page.text),
      keys: `g ${page.key}`,
      run: () => void navigate({ to: page.to, params: scope ?? { project: '', mode: '' } }),
    })),
    ...(scope === null ? [] : [modeEntry(scope)]),
    ...projects
      .filter((one) => one !== project)
      .map((one) => ({
        key: one.id,
        icon: 'arrow-right' as const,
        text: t('project_named', { name: one.name }),
        run: () => go({ project: one.id, mode: firstMode(one) }),
      })),
    { key: 'account', icon: 'user', text: t('account_settings'), run: () => void navigate({ to: '/account' }) },
    { key: 'help', icon: 'keyboard', text: t('shortcuts'), keys: '?', run: onHelp },
    { key: 'sign-out', icon: 'sign-out', text: t('sign_out'), run: () => void signOut() },
  ];

  function go(params: Scope): void {
    void navigate({ to: '/projects/$project/$mode', params });
  }

  function modeEntry({ project, mode }: Scope): PaletteEntry {
    const other = mode === 'test' ? 'live' : 'test';
    return { key: 'mode', icon: 'flask', text: t(`switch_to_${other}`), run: () => go({ project, mode: other }) };
  }
}
