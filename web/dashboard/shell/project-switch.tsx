import { useNavigate } from '@tanstack/react-router';
import { lazy, Suspense, useState } from 'react';
import { useLocale } from '../locale.tsx';
import { firstMode } from '../scope.ts';
import { useSignedIn, type SessionProject } from '../session.ts';
import { Icon } from '../ui/icons.tsx';
import { MenuButton } from '../ui/menu-button.tsx';
import { useWhenIdle } from '../ui/when-idle.ts';
import css from './rail.module.css';

const load = () => import('./new-project-dialog.tsx');
const NewProjectDialog = lazy(async () => ({ default: (await load()).NewProjectDialog }));

interface ProjectSwitchProps {
  /** The current project; undefined for people without any. */
  readonly project: SessionProject | undefined;
}

/** Shows the current project and switches to others. */
export function ProjectSwitch({ project }: ProjectSwitchProps) {
  const { t } = useLocale();
  const session = useSignedIn();
  const navigate = useNavigate();
  const [isNew, setNew] = useState(false);
  const name = project?.name ?? t('no_project');
  const mayCreate = session.person.actions.includes('create_projects');
  useWhenIdle(load);
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
