import { useQuery } from '@tanstack/react-query';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import type { ChoicesView } from '../../../../src/http/dashboard/notifications/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { Card } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Loaded } from '../../ui/placeholder.tsx';
import css from './account.module.css';
import { Choice, CHOICES_QUERY, MailTimes, OnOff, useChoice } from './choice.tsx';
import { ProjectChoices } from './project-choices.tsx';

const SAVE = 'POST /dashboard/api/account/notifications';
type Change = BodyOf<typeof SAVE>;

/** The mails that the person gets, and when. */
export function NotificationsCard() {
  const { t } = useLocale('notifications');
  const choices = useQuery(CHOICES_QUERY);
  return (
    <Card title={t('notifications')}>
      <Loaded query={choices} rows={4}>
        {(saved) => (
          <>
            <Choices choices={saved} />
            <ProjectChoices choices={saved} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

const OWN_ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone;
/** A Monday. */
const MONDAY = Date.UTC(2024, 0, 1);
const DAY_MS = 86_400_000;

function Choices({ choices }: { readonly choices: ChoicesView }) {
  const { t, code } = useLocale('notifications');
  const { person, projects } = useSignedIn();
  const { save, chosen } = useSave(choices);
  const mayRead = (action: 'read_developer' | 'read_payments'): boolean =>
    projects.some(({ actions }) => actions.includes(action));
  const isOwner = person.role === 'owner' || projects.some(({ role }) => role === 'owner');
  const weekday = new Intl.DateTimeFormat(code, { weekday: 'long', timeZone: 'UTC' });
  const days = Array.from(
    { length: 7 },
    (_, index) => [String(index + 1), weekday.format(MONDAY + index * DAY_MS)] as const,
  );
  return (
    <>
      <div className={css.lead}>
        {chosen.sends_mail ? t('mail_to', { email: person.email }) : <Notice>{t('mail_none')}</Notice>}
      </div>
      <div>
        {isOwner ? (
          <OnOff
            name="wallet_changed"
            isOn={chosen.wallet_changed}
            onValue={(isOn) => save({ wallet_changed: isOn })}
          />
        ) : null}
        {mayRead('read_developer') ? (
          <OnOff name="endpoints" isOn={chosen.endpoints} onValue={(isOn) => save({ endpoints: isOn })} />
        ) : null}
        <MailTimes name="attention" value={chosen.attention} onValue={(attention) => save({ attention })} />
        <Choice
          name="weekly"
          value={String(chosen.weekly_on ?? 'off')}
          options={[...days, ['off', t('mail_off')]]}
          onValue={(value) => save({ weekly_on: value === 'off' ? null : Number(value) })}
        />
        <Choice
          name="zone"
          value={chosen.zone ?? OWN_ZONE}
          options={zonesWith(chosen.zone ?? OWN_ZONE).map((zone) => [zone, zone.replaceAll('_', ' ')] as const)}
          onValue={(zone) => save({ zone })}
        />
      </div>
    </>
  );
}

/** The page shows a choice while it is being saved. */
function useSave(choices: ChoicesView) {
  const { api } = useDashboard();
  // For a person without a zone, the first choice saves the browser's zone.
  const change = useChoice((given: Change) =>
    api(SAVE, { body: choices.zone === null ? { zone: OWN_ZONE, ...given } : given }),
  );
  const shown = change.isPending ? { ...choices, ...definedOf(change.variables) } : choices;
  return { save: change.mutate, chosen: shown };
}

function definedOf(change: Change): Partial<ChoicesView> {
  return Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
}

/** The zones with this one: browsers omit some valid names, such as UTC. */
function zonesWith(zone: string): readonly string[] {
  return [...new Set(['UTC', zone, ...Intl.supportedValuesOf('timeZone')])].toSorted();
}
