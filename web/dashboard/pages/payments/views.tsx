import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ViewAnswer } from '../../../../src/http/dashboard/saved-views/contract.ts';
import { useLocale } from '../../locale.tsx';
import { buttonClass, LinkButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icons.tsx';
import { MenuButton } from '../../ui/menu-button.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Notice } from '../../ui/notice.tsx';
import { viewsQuery } from './list-queries.ts';
import css from './payments-page.module.css';
import { GROUP_NAMES } from '../../status-groups.ts';
import { isNarrowed, searchOfView, viewQuery, type PaymentsSearch } from './search.ts';
import { useScope } from '../../scope.ts';

/** An action on views, each in a dialog of its own. */
export type ViewAction =
  | { readonly kind: 'save' }
  | { readonly kind: 'rename' | 'update' | 'delete'; readonly view: ViewAnswer };

interface ViewTabsProps {
  readonly search: PaymentsSearch;
  readonly onAction: (action: ViewAction) => void;
}

/** The list as tabs: one for each group of statuses, one for each saved view. */
export function ViewTabs({ search, onAction }: ViewTabsProps) {
  const { t } = useLocale('list');
  const scope = useScope();
  const { data: views = [] } = useQuery(viewsQuery(scope));
  const current = views.find(({ id }) => id === search.view);
  const { status: _status, view: _view, ...rest } = search;
  const groups = [undefined, ...GROUP_NAMES];
  return (
    <>
      <div className={css.tabRow}>
        <nav className={css.tabs} aria-label={t('by_status')}>
          {groups.map((group) => (
            <Link
              key={group ?? 'all'}
              to="/projects/$project/$mode/payments"
              params={scope}
              search={{ ...rest, ...(group !== undefined && { status: group }) }}
              activeOptions={{ exact: true, includeSearch: true }}
              replace
            >
              {t(group === undefined ? 'all' : `group_${group}`)}
            </Link>
          ))}
        </nav>
        {views.length === 0 ? null : (
          <nav className={classNames(css.tabs, css.saved)} aria-label={t('views')}>
            {views.map((view) => (
              <Link
                key={view.id}
                to="/projects/$project/$mode/payments"
                params={scope}
                search={{ ...searchOfView(view.query).search, view: view.id }}
                activeOptions={{ exact: true, includeSearch: true }}
                // The view stays the current one while its filters are changed.
                aria-current={view === current ? 'page' : undefined}
                title={view.is_own ? undefined : t('view_by', { who: view.owner })}
                replace
              >
                {view.name}
              </Link>
            ))}
          </nav>
        )}
        <ViewActions search={search} current={current} onAction={onAction} />
      </div>
      {current === undefined ? null : <Lost view={current} />}
    </>
  );
}

interface ViewActionsProps extends ViewTabsProps {
  readonly current: ViewAnswer | undefined;
}

function ViewActions({ search, current, onAction }: ViewActionsProps) {
  const { t } = useLocale('list');
  const now = viewQuery(search);
  // Compared in this version's form: another version may have written the same view differently.
  const isChanged = current !== undefined && viewQuery(searchOfView(current.query).search) !== now;
  const canSave = current === undefined ? isNarrowed(search) || search.columns !== undefined : isChanged;
  return (
    <div className={css.viewActions}>
      {canSave ? <LinkButton onClick={() => onAction({ kind: 'save' })}>{t('save_view')}</LinkButton> : null}
      {isChanged && current.can_change ? (
        <LinkButton onClick={() => onAction({ kind: 'update', view: current })}>{t('update_view')}</LinkButton>
      ) : null}
      {current?.can_change === true ? (
        <MenuButton
          label={t('view_more', { name: current.name })}
          className={buttonClass({ kind: 'quiet', small: true })}
          items={[
            { key: 'rename', text: t('rename_view'), onChoose: () => onAction({ kind: 'rename', view: current }) },
            {
              key: 'delete',
              text: t('delete_view'),
              isApart: true,
              onChoose: () => onAction({ kind: 'delete', view: current }),
            },
          ]}
        >
          <Icon name="dots" size={16} />
        </MenuButton>
      ) : null}
    </div>
  );
}

/** Lists the parts of another version's view that this one does not know. */
function Lost({ view }: { readonly view: ViewAnswer }) {
  const { t } = useLocale('list');
  const { lost } = searchOfView(view.query);
  if (lost.length === 0) return null;
  return <Notice kind="warning">{t('view_lost', { parts: lost.join(', ') })}</Notice>;
}
