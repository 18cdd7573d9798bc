import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BodyOf } from '../../../../src/http/dashboard/contract.ts';
import type { ChoicesView } from '../../../../src/http/dashboard/notifications/contract.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { useSignedIn } from '../../session.ts';
import { Card, Row } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { SkeletonRows } from '../../ui/placeholder.tsx';
import css from './account.module.css';

const CHOICES = '/dashboard/api/account/notifications';
const QUERY = reads(['notifications'], `GET ${CHOICES}`);
type Change = BodyOf<`POST ${typeof CHOICES}`>;

/** The mails that the person gets, and when. */
export function NotificationsCard() {
  const { t } = useLocale('notifications');
  const choices = useQuery(QUERY);
  return (
    <Card title={t('notifications')}>
      <Problem error={choices.error} />
      {choices.isPending ? <SkeletonRows count={4} /> : null}
      {choices.data === undefined ? null : <Choices choices={choices.data} />}
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
        <Choice
          title={t('mail_attention')}
          text={t('mail_attention_text')}
          value={chosen.attention}
          options={[
            ['at_once', t('mail_at_once')],
            ['daily', t('mail_daily')],
            ['off', t('mail_off')],
          ]}
          onValue={(value) => save({ attention: value as ChoicesView['attention'] })}
        />
        <Choice
          title={t('mail_weekly')}
          text={t('mail_weekly_text')}
          value={String(chosen.weekly_on ?? 'off')}
          options={[...days, ['off', t('mail_off')]]}
          onValue={(value) => save({ weekly_on: value === 'off' ? null : Number(value) })}
        />
        <Choice
          title={t('mail_zone')}
          text={t('mail_zone_text')}
          value={chosen.zone ?? OWN_ZONE}
          options={zonesWith(chosen.zone ?? OWN_ZONE).map((zone) => [zone, zone.replaceAll('_', ' ')] as const)}
          onValue={(zone) => save({ zone })}
        />
      </div>
    </>
  );
}

interface OnOffProps {
  readonly name: 'wallet_changed' | 'endpoints';
  readonly isOn: boolean;
  readonly onValue: (isOn: boolean) => void;
}

/** The choice for a mail that is sent at once, or not at all. */
function OnOff({ name, isOn, onValue }: OnOffProps) {
  const { t } = useLocale('notifications');
  return (
    <Choice
      title={t(`mail_${name}`)}
      text={t(`mail_${name}_text`)}
      value={isOn ? 'at_once' : 'off'}
      options={[
        ['at_once', t('mail_at_once')],
        ['off', t('mail_off')],
      ]}
      onValue={(value) => onValue(value === 'at_once')}
    />
  );
}

/** Saves one choice at a time, so that another tab's choices stay. The page shows a choice while it is being saved. */
function useSave(choices: ChoicesView) {
  const { t } = useLocale('notifications');
  const { api, queries, toast } = useDashboard();
  const change = useMutation({
    // One after the other, so that the last answer has them all.
    scope: { id: 'notifications' },
    // For a person without a zone, the first choice saves the browser's zone.
    mutationFn: (given: Change) =>
      api(`POST ${CHOICES}`, { body: choices.zone === null ? { zone: OWN_ZONE, ...given } : given }),
    onSuccess: (saved) => {
      queries.setQueryData(QUERY.queryKey, saved);
      toast(t('mail_choices_saved'));
    },
    onError: (error) => toast(problemText(error, t), 'problem'),
  });
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

interface ChoiceProps {
  readonly title: string;
  readonly text: ReactNode;
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

function Choice({ title, text, ...select }: ChoiceProps) {
  return (
    <Row title={title} text={text}>
      <Select label={title} {...select} />
    </Row>
  );
}
