import { Link } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { AttentionBadge } from './attention-badge.tsx';
import { pagesFor } from './pages.ts';
import { ProjectSwitch } from './project-switch.tsx';
import css from './rail.module.css';

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
