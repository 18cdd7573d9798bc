import { useState } from 'react';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import type { ChoicesView } from '../../../../src/http/dashboard/notifications/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import css from './account.module.css';
import { Choice, MailTimes, OnOff, useChoice } from './choice.tsx';

const SAVE = 'POST /dashboard/api/account/notifications/project';
type Change = BodyOf<typeof SAVE>;
type Chosen = Required<Change>;

/** The mails about the payments of one project at a time. */
export function ProjectChoices({ choices }: { readonly choices: ChoicesView }) {
  const { t } = useLocale('notifications');
  const projects = useSignedIn().projects.filter(({ actions }) => actions.includes('read_payments'));
  const [named, choose] = useState<string | null>(null);
  const project = projects.find(({ id }) => id === named) ?? projects[0];
  if (project === undefined) return null;
  return (
    <section aria-labelledby="project-mails">
      <h3 id="project-mails" className={css.part}>
        {projects.length === 1 ? t('mail_of_project', { project: project.name }) : t('mail_of_projects')}
      </h3>
      {projects.length === 1 ? null : (
        <Choice
          name="project"
          value={project.id}
          options={projects.map(({ id, name }) => [id, name] as const)}
          onValue={choose}
        />
      )}
      <OfProject key={project.id} id={project.id} choices={choices} />
    </section>
  );
}

function OfProject({ id, choices }: { readonly id: string; readonly choices: ChoicesView }) {
  const { save, chosen } = useSave(id, choices);
  return (
    <>
      <MailTimes name="payments" value={chosen.payments} onValue={(payments) => save({ id, payments })} />
      <OnOff name="refunds" isOn={chosen.refunds} onValue={(refunds) => save({ id, refunds })} />
      <OnOff name="monthly" isOn={chosen.monthly} onValue={(monthly) => save({ id, monthly })} />
    </>
  );
}

/** The page shows a choice while it is being saved. */
function useSave(id: string, { projects }: ChoicesView) {
  const { api } = useDashboard();
  const change = useChoice((body: Change) => api(SAVE, { body }));
  const saved: Chosen = projects.find((one) => one.id === id) ?? {
    id,
    payments: 'off',
    refunds: false,
    monthly: false,
  };
  const given: Partial<Change> = change.isPending ? change.variables : {};
  const chosen: Chosen = {
    id,
    payments: given.payments ?? saved.payments,
    refunds: given.refunds ?? saved.refunds,
    monthly: given.monthly ?? saved.monthly,
  };
  return { save: change.mutate, chosen };
}
