import { Link, useNavigate } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import { useSignedIn, type SessionProject } from '../session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { pagesFor } from './pages.ts';
import css from './rail.module.css';
import { useQuery } from '@tanstack/react-query';
import { attentionCountQuery } from '../pages/attention/queries.ts';
import { lazy, Suspense, useState } from 'react';
import { MenuButton } from '../ui/menu-button.tsx';
import { useWhenIdle } from '../lazy-page.tsx';
import { type Scope, firstMode } from '../scope.ts';

/** The server counts no further than this. */
const MAX_COUNT = 100;

/** The number of attention items, beside the page's name; nothing if there are none. */
function AttentionBadge({ scope }: { readonly scope: Scope }) {
  const { t } = useLocale();
  const { data } = useQuery(attentionCountQuery(scope));
  if (data === undefined || data.count === 0) return null;
  const shown = data.count >= MAX_COUNT ? `${MAX_COUNT - 1}+` : String(data.count);
  return (
    // A picture of the number, so that the link keeps its name; its description contains the number.
    <span className={css.badge} data-count={shown} title={t('attention_count', { count: shown })} aria-hidden="true" />
  );
}

interface RailProps {
  readonly scope: Scope | null;
  readonly className?: string | undefined;
  readonly onHelp: () => void;
  /** Set in the drawer of a phone. */
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
          : pagesFor(project, session).map(({ to, text, icon }) => (
              <Link
                key={to}
                className={css.link ?? ''}
                to={to}
                params={scope}
                activeOptions={{ exact: text === 'home', includeSearch: false }}
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

const loadNewProject = () => import('./dialogs.tsx');
const NewProjectDialog = lazy(async () => ({ default: (await loadNewProject()).NewProjectDialog }));

interface ProjectSwitchProps {
  /** The current project; undefined for people without any. */
  readonly project: SessionProject | undefined;
}

/** Shows the current project and switches to others. */
function ProjectSwitch({ project }: ProjectSwitchProps) {
  const { t } = useLocale();
  const session = useSignedIn();
  const navigate = useNavigate();
  const [isNew, setNew] = useState(false);
  const name = project?.name ?? t('no_project');
  const mayCreate = session.person.actions.includes('create_projects');
  useWhenIdle(loadNewProject);
  return (
    <>
      <MenuButton
        className={css.project}
        label={t('project_named', { name })}
        items={[
          ...session.projects.map((one) => ({
            key: one.id,
            text: one.name,
            isChosen: one.id === project?.id,
            onChoose: () =>
              void navigate({
                to: '/projects/$project/$mode',
                params: { project: one.id, mode: firstMode(one) },
              }),
          })),
          ...(mayCreate
            ? [
                {
                  key: 'new',
                  text: t('new_project'),
                  icon: 'plus' as const,
                  isApart: true,
                  onChoose: () => setNew(true),
                },
              ]
            : []),
        ]}
      >
        <span className={css.monogram} data-letter={Array.from(name)[0]?.toUpperCase()} aria-hidden="true" />
        <span>{name}</span>
        <Icon name="chevron-down" size={15} />
      </MenuButton>
      <Suspense>{isNew ? <NewProjectDialog onClose={() => setNew(false)} /> : null}</Suspense>
    </>
  );
}
