import { Link, useMatches, useNavigate } from '@tanstack/react-router';
import { useLocale } from '../locale.tsx';
import { useSignedIn, type SessionProject } from '../session.ts';
import { IconButton } from '../ui/button.tsx';
import { Icon } from '../ui/icons.tsx';
import { PAGE_GROUPS, rememberFolded, type PageGroup } from './page-groups.ts';
import { pageOf, pagesFor } from './pages.ts';
import { useDashboard, useStore } from '../dashboard.ts';
import { classNames } from '../ui/class-names.ts';
import css from './rail.module.css';
import { useQuery } from '@tanstack/react-query';
import { attentionCountQuery } from '../pages/attention/queries.ts';
import { lazy, Suspense, useId, useState, type ReactNode } from 'react';
import { MenuButton } from '../ui/menu-button.tsx';
import { useWhenIdle } from '../lazy-page.tsx';
import { type Scope, mayUseTill, modeInOther } from '../scope.ts';

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
        <ProjectSwitch project={project} scope={scope} />
        {onClose === undefined ? null : <IconButton icon="close" label={t('close')} onClick={onClose} />}
      </div>
      {scope === null || project === undefined ? null : <Pages scope={scope} project={project} />}
      <div className={css.foot}>
        {mayUseTill(session) ? (
          <a href={scope === null ? '/till' : `/till?${new URLSearchParams({ ...scope }).toString()}`}>
            <Icon name="phone" size={16} />
            {t('till')}
          </a>
        ) : null}
        <button type="button" onClick={onHelp}>
          <Icon name="keyboard" size={16} />
          {t('shortcuts')}
        </button>
      </div>
    </nav>
  );
}

interface PagesProps {
  readonly scope: Scope;
  readonly project: SessionProject;
}

/** Home, and the other pages in groups. */
function Pages({ scope, project }: PagesProps) {
  const pages = pagesFor(project, useSignedIn());
  const link = (page: (typeof pages)[number]) => <PageLink key={page.to} page={page} scope={scope} />;
  return (
    <div className={css.nav}>
      {pages.filter(({ group }) => group === null).map(link)}
      {PAGE_GROUPS.map((group) => {
        const within = pages.filter((page) => page.group === group);
        if (within.length === 0) return null;
        return (
          <Group key={group} group={group} scope={scope}>
            {within.map(link)}
          </Group>
        );
      })}
    </div>
  );
}

interface GroupProps {
  readonly group: PageGroup;
  readonly scope: Scope;
  readonly children: ReactNode;
}

/** A group of pages, which the person can fold. Folded, its name shows that the current page is in it. */
function Group({ group, scope, children }: GroupProps) {
  const { t } = useLocale();
  const { folded } = useDashboard();
  const groups = useStore(folded);
  const id = useId();
  const isOpen = !groups.has(group);
  const isHere = useMatches({ select: (matches) => pageOf(matches.at(-1)?.fullPath ?? '')?.group === group });
  const toggle = (): void => {
    const changed = new Set(groups);
    if (isOpen) changed.add(group);
    else changed.delete(group);
    folded.set(changed);
    rememberFolded(changed);
  };
  return (
    <>
      <button
        type="button"
        className={classNames(css.group, !isOpen && isHere && css.here)}
        aria-expanded={isOpen}
        aria-controls={id}
        onClick={toggle}
      >
        <span>{t(group)}</span>
        {!isOpen && group === 'payments' ? <AttentionBadge scope={scope} /> : null}
        <Icon name="chevron-down" size={14} />
      </button>
      <div id={id} className={css.pages} hidden={!isOpen}>
        {children}
      </div>
    </>
  );
}

interface PageLinkProps {
  readonly page: ReturnType<typeof pagesFor>[number];
  readonly scope: Scope;
}

function PageLink({ page: { to, text, icon }, scope }: PageLinkProps) {
  const { t } = useLocale();
  return (
    <Link
      className={css.link ?? ''}
      to={to}
      params={scope}
      activeOptions={{ exact: text === 'home', includeSearch: false }}
    >
      <Icon name={icon} />
      {t(text)}
      {text === 'attention' ? <AttentionBadge scope={scope} /> : null}
    </Link>
  );
}

const loadNewProject = () => import('./dialogs.tsx');
const NewProjectDialog = lazy(async () => ({ default: (await loadNewProject()).NewProjectDialog }));

interface ProjectSwitchProps {
  /** The current project; undefined for people without any. */
  readonly project: SessionProject | undefined;
  readonly scope: Scope | null;
}

/** Shows the current project and switches to others. */
function ProjectSwitch({ project, scope }: ProjectSwitchProps) {
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
                params: { project: one.id, mode: modeInOther(one, scope) },
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
