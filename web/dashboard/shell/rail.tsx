import { Link } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { pagesFor } from './pages.ts';
import { ProjectSwitch } from './project-switch.tsx';
import css from './rail.module.css';
import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../dashboard.ts';
import { attentionCountQuery } from '../pages/attention/queries.ts';

/** The server counts no further. */
const MAX_COUNT = 100;

/** How much needs attention, beside the page's name; nothing where nothing does. */
function AttentionBadge({ scope }: { readonly scope: Scope }) {
  const { t } = useLocale();
  const { api } = useDashboard();
  const { data } = useQuery(attentionCountQuery(api, scope));
  if (data === undefined || data.count === 0) return null;
  const shown = data.count >= MAX_COUNT ? `${MAX_COUNT - 1}+` : String(data.count);
  return (
    // A picture of the number, so that the link keeps its name; its description says it.
    <span className={css.badge} data-count={shown} title={t('attention_count', { count: shown })} aria-hidden="true" />
  );
}

interface RailProps {
  readonly scope: Scope | null;
  readonly className?: string | undefined;
  readonly onHelp: () => void;
  /** In the drawer of a phone. */
  readonly onClose?: () => void;
}

/** The navigation: the current project and its pages. */
export function Rail({ scope, className, onHelp, onClose }: RailProps) {
  const { t } = useLocale();
  const session = useSignedIn();
  const project = session.projects.find(({ id }) => id === scope?.project);
  return (
    <nav className={className} aria-label={t('pages')}>
      <div className={css.head}>
        <ProjectSwitch project={project} />
        {onClose === undefined ? null : <IconButton icon="close" label={t('close')} onClick={onClose} />}
      </div>
      <div className={css.nav}>
        {scope === null || project === undefined
          ? null
          : pagesFor(project, session).map(({ to, text, icon, isExact }) => (
              <Link
                key={to}
                className={css.link ?? ''}
                to={to}
                params={scope}
                activeOptions={{ exact: isExact, includeSearch: false }}
              >
                <Icon name={icon} />
                {t(text)}
                {text === 'attention' ? <AttentionBadge scope={scope} /> : null}
              </Link>
            ))}
      </div>
      <div className={css.foot}>
        <button type="button" onClick={onHelp}>
          <Icon name="keyboard" size={16} />
          {t('shortcuts')}
        </button>
      </div>
    </nav>
  );
}
