import type { CompletedFact } from '../domain/mail-content.ts';
import { button, coin, dayText, money, rows, timeText, type Body, type MailContext, type Of } from './parts.ts';
import type { Block } from './render.ts';
import type { Translate } from './translator.ts';

/** The mail about a completed payment. */
export function payment({ project, payment: of }: Of<'payment'>, context: MailContext, t: Translate): Body {
  const { language } = context;
  const amount = money(language, of.minor, of.currency);
  return {
    subject: t('subject_payment', { amount, name: of.name }),
    blocks: [
      { kind: 'text', text: t('payment', { amount, project: project.name }) },
      rows([
        [t('label_payment'), of.name],
        [t('label_amount'), amount],
        ...(of.received === null ? [] : [[t('label_received'), coin(language, of.received)] as const]),
        ...(of.customer === null ? [] : [[t('label_customer'), of.customer] as const]),
        [t('label_at'), timeText(context, of.at)],
      ]),
      button(t('button_payment'), context, project, `payments/${of.id}`),
    ],
  };
}

/** The mail about the payments of a day. */
export function paymentsDaily(
  { project, from, to, completed }: Of<'payments_daily'>,
  context: MailContext,
  t: Translate,
): Body {
  const amount = money(context.language, completed.minor, completed.currency);
  const values = { project: project.name, amount, count: completed.payments };
  const days = { from: dayText(context, from), to: dayText(context, to) };
  return {
    subject: t('subject_payments_daily', values),
    blocks: [
      { kind: 'text', text: from === to ? t('payments_day', { day: days.to }) : t('payments_days', days) },
      rows(completedRows(completed, context, t)),
      ...unvalued(completed, t),
      button(t('button_payments'), context, project, 'payments'),
    ],
  };
}

/** The mail with the statement of a month. */
export function monthly(
  { project, from, completed, refunded }: Of<'monthly'>,
  context: MailContext,
  t: Translate,
): Body {
  const { language } = context;
  const month = new Intl.DateTimeFormat(language, { month: 'long', year: 'numeric', timeZone: 'UTC' }).format(
    Date.parse(from),
  );
  const values = { project: project.name, month };
  return {
    subject: t('subject_monthly', values),
    blocks: [
      { kind: 'text', text: t('monthly', values) },
      rows([
        ...completedRows(completed, context, t),
        [t('label_refunds_paid'), new Intl.NumberFormat(language).format(refunded.refunds)],
        ...(refunded.minor === null || refunded.refunds === 0
          ? []
          : [[t('label_refunded'), money(language, refunded.minor, completed.currency)] as const]),
        ...refunded.coins.map((one) => [t('label_paid_back'), coin(language, one)] as const),
      ]),
      ...unvalued(completed, t),
      { kind: 'text', text: t('monthly_more') },
      button(t('button_reports'), context, project, 'reports'),
    ],
  };
}

/** The sum of completed payments, and what came in each coin. */
function completedRows(
  { payments, minor, currency, coins }: CompletedFact,
  { language }: MailContext,
  t: Translate,
): readonly (readonly [string, string])[] {
  return [
    [t('label_completed_payments'), new Intl.NumberFormat(language).format(payments)],
    [t('label_sum'), money(language, minor, currency)],
    ...coins.map((one) => [t('label_received'), coin(language, one)] as const),
  ];
}

function unvalued({ unvalued: count }: CompletedFact, t: Translate): readonly Block[] {
  return count === 0 ? [] : [{ kind: 'small', text: t('payments_unvalued', { count }) }];
}

/** The mail about a refund. */
export function refund({ project, state, refund: of }: Of<'refund'>, context: MailContext, t: Translate): Body {
  const { language } = context;
  const amount = money(language, of.minor, of.currency);
  const names = { amount, name: of.name, project: project.name };
  const text = of.failure === null ? t(`refund_${state}`, names) : t(`refund_failed_${of.failure}`, names);
  return {
    subject: t(`subject_refund_${state}`, names),
    blocks: [
      { kind: 'text', text },
      rows([
        [t('label_payment'), of.name],
        [t('label_amount'), amount],
        [t('label_coin'), coin(language, of.coin)],
        [t('label_to_address'), of.address ?? t('refund_no_address')],
        [t('label_at'), timeText(context, of.at)],
      ]),
      button(t('button_refunds'), context, project, 'refunds'),
    ],
  };
}
