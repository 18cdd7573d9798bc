import { useMutation } from '@tanstack/react-query';
import type { ChoicesView } from '../../../../src/http/dashboard/notifications/contract.ts';
import type { MailTime } from '../../../../src/domain/notification.ts';
import { reads } from '../../api.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { Row } from '../../ui/card.tsx';
import { Select } from '../../ui/field.tsx';

/** The person's choices of mails. */
export const CHOICES_QUERY = reads(['notifications'], 'GET /dashboard/api/account/notifications');

interface ChoiceProps {
  /** Its texts are `mail_` and the name. */
  readonly name:
    | 'attention'
    | 'endpoints'
    | 'monthly'
    | 'payments'
    | 'project'
    | 'refunds'
    | 'wallet_changed'
    | 'weekly'
    | 'zone';
  readonly value: string;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly onValue: (value: string) => void;
}

/** One choice of a mail, which is saved at once. */
export function Choice({ name, ...select }: ChoiceProps) {
  const { t } = useLocale('notifications');
  return (
    <Row title={t(`mail_${name}`)} text={t(`mail_${name}_text`)}>
      <Select label={t(`mail_${name}`)} {...select} />
    </Row>
  );
}

interface MailTimesProps {
  readonly name: 'attention' | 'payments';
  readonly value: MailTime;
  readonly onValue: (value: MailTime) => void;
}

/** The choice of mails at once, daily or not at all. */
export function MailTimes({ name, value, onValue }: MailTimesProps) {
  const { t } = useLocale('notifications');
  return (
    <Choice
      name={name}
      value={value}
      options={[
        ['at_once', t(name === 'payments' ? 'mail_each' : 'mail_at_once')],
        ['daily', t('mail_daily')],
        ['off', t('mail_off')],
      ]}
      onValue={(chosen) => onValue(chosen as MailTime)}
    />
  );
}

interface OnOffProps {
  readonly name: 'wallet_changed' | 'endpoints' | 'monthly' | 'refunds';
  readonly isOn: boolean;
  readonly onValue: (isOn: boolean) => void;
}

/** The choice for a mail that is sent at once, or not at all. */
export function OnOff({ name, isOn, onValue }: OnOffProps) {
  const { t } = useLocale('notifications');
  return (
    <Choice
      name={name}
      value={isOn ? 'at_once' : 'off'}
      options={[
        ['at_once', t(name === 'monthly' ? 'mail_on' : 'mail_at_once')],
        ['off', t('mail_off')],
      ]}
      onValue={(value) => onValue(value === 'at_once')}
    />
  );
}

/** Saves one choice at a time, so that another tab's choices stay. */
export function useChoice<Change>(send: (change: Change) => Promise<ChoicesView>) {
  const { t } = useLocale('notifications');
  const { queries, toast } = useDashboard();
  return useMutation({
    // One after the other, so that the last answer has them all.
    scope: { id: 'notifications' },
    mutationFn: send,
    onSuccess: (saved) => {
      queries.setQueryData(CHOICES_QUERY.queryKey, saved);
      toast(t('mail_choices_saved'));
    },
    onError: (error) => toast(problemText(error, t), 'problem'),
  });
}
