import { NETWORK_FACTS } from '../domain/networks.ts';
import type { MailLanguage } from '../domain/notification.ts';
import type { AccountChange, AttentionFact, Both, MailContent, WeekSection } from '../domain/mail-content.ts';
import {
  button,
  dayText,
  exact,
  heading,
  money,
  rows,
  timeText,
  type Body,
  type MailContext,
  type Of,
} from './parts.ts';
import { monthly, payment, paymentsDaily, refund } from './payment-mails.ts';
import { asHtml, asText, type Block } from './render.ts';
import { translator, type TextKey, type Translate } from './translator.ts';

export interface ComposedMail {
  readonly subject: string;
  readonly text: string;
  readonly html: string;
}

/** The text of a mail, in the language and zone of its recipient. */
export function composeMail(content: MailContent, context: MailContext): ComposedMail {
  const t = translator(context.language);
  const { subject, blocks } = bodyOf(content, context, t);
  return composed(context.language, subject, [...blocks, ...footer(content, context, t)]);
}

/** The mail by which an operator tests the settings. */
export function composeTestMail(siteUrl: string): ComposedMail {
  const t = translator('en');
  return composed('en', t('subject_test'), [
    { kind: 'text', text: t('test') },
    { kind: 'button', label: t('button_project'), url: `${siteUrl}/dashboard` },
  ]);
}

function composed(language: MailLanguage, subject: string, blocks: readonly Block[]): ComposedMail {
  return { subject, text: asText(blocks), html: asHtml(language, subject, blocks) };
}

function bodyOf(content: MailContent, context: MailContext, t: Translate): Body {
  switch (content.kind) {
    case 'invitation':
      return invitation(content, context, t);
    case 'email':
      return confirmEmail(context, t);
    case 'account':
      return account(content, context, t);
    case 'wallet_changed':
      return walletChanged(content, context, t);
    case 'endpoint':
      return endpoint(content, context, t);
    case 'attention':
      return attention(content, context, t);
    case 'weekly':
      return weekly(content, context, t);
    case 'payment':
      return payment(content, context, t);
    case 'payments_daily':
      return paymentsDaily(content, context, t);
    case 'monthly':
      return monthly(content, context, t);
    case 'refund':
      return refund(content, context, t);
  }
}

function invitation({ by, role, project }: Of<'invitation'>, { link }: MailContext, t: Translate): Body {
  const text = by === null ? t('invitation_by_operator') : t('invitation', { by });
  return {
    subject: t('subject_invitation'),
    blocks: [
      { kind: 'text', text },
      rows([
        [t('label_role'), t(`role_${role}`)],
        [t('label_where'), project ?? t('all_projects')],
      ]),
      ...linkButton(t('button_invitation'), link),
      { kind: 'small', text: t('invitation_once') },
      { kind: 'small', text: t('invitation_unexpected') },
    ],
  };
}

function confirmEmail({ link }: MailContext, t: Translate): Body {
  const once: Block = { kind: 'small', text: t('email_once') };
  const blocks: readonly Block[] = [{ kind: 'text', text: t('email') }, ...linkButton(t('button_email'), link), once];
  return { subject: t('subject_email'), blocks };
}

function linkButton(label: string, url: string | null): readonly Block[] {
  return url === null ? [] : [{ kind: 'button', label, url }];
}

const DETAILS: Readonly<Partial<Record<AccountChange, TextKey>>> = {
  email: 'label_new_email',
  email_asked: 'label_new_email',
  new_browser: 'label_browser',
  passkey_added: 'label_passkey',
  passkey_removed: 'label_passkey',
};

/** The advice for a change that the person did not make themselves. */
const ACTIONS: Readonly<Partial<Record<AccountChange, TextKey>>> = {
  codes_used_up: 'account_action_codes_used_up',
  email_asked: 'account_action_email_asked',
  reset: 'account_action_reset',
};

function account({ change, address, by, ip, at, detail }: Of<'account'>, context: MailContext, t: Translate): Body {
  const subject = t(`account_${change}`);
  const label = DETAILS[change];
  return {
    subject,
    blocks: [
      { kind: 'text', text: `${subject}.` },
      rows([
        [t('label_account'), address],
        ...(label === undefined || detail === null ? [] : [[t(label), detail] as const]),
        // The person who guesses is unknown.
        ...(change === 'codes_used_up' ? [] : [[t('label_by'), by ?? t('by_operator')] as const]),
        [t('label_at'), timeText(context, at)],
        ...(ip === null ? [] : [[t('label_from'), ip] as const]),
      ]),
      { kind: 'text', text: t(ACTIONS[change] ?? 'account_action') },
      { kind: 'button', label: t('button_own_account'), url: `${context.siteUrl}/dashboard/account` },
    ],
  };
}

function walletChanged(content: Of<'wallet_changed'>, context: MailContext, t: Translate): Body {
  const { project, by, ip, before, after } = content;
  const names = { by, project: project.name, network: NETWORK_FACTS[content.network].label };
  return {
    subject: t('subject_wallet_changed', names),
    blocks: [
      { kind: 'text', text: t('wallet_changed', names) },
      rows([
        [t('label_address_now'), after],
        [t('label_address_before'), before ?? t('none')],
        [t('label_at'), timeText(context, content.at)],
        ...(ip === null ? [] : [[t('label_from'), ip] as const]),
      ]),
      { kind: 'text', text: t('wallet_changed_action') },
      button(t('button_wallet'), context, project, 'wallets'),
    ],
  };
}

function endpoint(content: Of<'endpoint'>, context: MailContext, t: Translate): Body {
  const { project, state, url, detail, at } = content;
  const name = URL.parse(url)?.host ?? url;
  return {
    subject: t(`subject_endpoint_${state}`, { name }),
    blocks: [
      { kind: 'text', text: t(`endpoint_${state}`, { project: project.name }) },
      rows([
        [t('label_endpoint'), url],
        ...(state === 'over' ? [] : [[t('label_answer'), detail ?? t('no_answer')] as const]),
        [t('label_at'), timeText(context, at)],
      ]),
      button(t('button_endpoint'), context, project, 'webhooks'),
    ],
  };
}

function attention({ isDaily, projects }: Of<'attention'>, context: MailContext, t: Translate): Body {
  const items = projects.flatMap((section) => section.items);
  const count = projects.reduce((sum, section) => sum + section.items.length + section.more, 0);
  const [first] = items;
  const name = first === undefined ? '' : sentence(first, context, t);
  const alone = isDaily ? ('subject_daily_one' as const) : ('subject_attention' as const);
  const several = isDaily ? ('subject_daily' as const) : ('subject_attention_more' as const);
  return {
    subject: count === 1 ? t(alone, { name }) : t(several, { count }),
    blocks: projects.flatMap((section) => [
      heading(section.project.name),
      { kind: 'list' as const, items: section.items.map((item) => sentence(item, context, t)) },
      ...moreOf(section.more, t),
      button(t('button_attention'), context, section.project, 'attention'),
    ]),
  };
}

function weekly({ from, to, projects }: Of<'weekly'>, context: MailContext, t: Translate): Body {
  const days = { from: dayText(context, from), to: dayText(context, to) };
  return {
    subject: t('subject_weekly', days),
    blocks: [
      { kind: 'text', text: t('week_text') },
      ...projects.flatMap((section): readonly Block[] => [
        heading(section.project.name),
        rows(figures(section, context, t)),
        { kind: 'text', text: section.attention.length === 0 ? t('attention_none') : `${t('attention_now')}:` },
        ...(section.attention.length === 0
          ? []
          : [{ kind: 'list' as const, items: section.attention.map((item) => sentence(item, context, t)) }]),
        ...moreOf(section.more, t),
        button(t('button_project'), context, section.project, ''),
      ]),
    ],
  };
}

function figures(
  section: WeekSection,
  { language }: MailContext,
  t: Translate,
): readonly (readonly [string, string])[] {
  const row = <Value>(label: TextKey, [now, then]: Both<Value>, show: (value: Value) => string) =>
    [t(label), t('before', { value: show(now), before: show(then) })] as const;
  const count = (value: number): string => new Intl.NumberFormat(language).format(value);
  const share = (value: number | null): string =>
    value === null
      ? '–'
      : new Intl.NumberFormat(language, { style: 'percent', maximumFractionDigits: 1 }).format(value / 10_000);
  return [
    row('label_volume', section.minor, (minor) => money(language, minor, section.currency)),
    row('label_created', section.created, count),
    row('label_completed', section.completed, count),
    row('label_conversion', section.conversion, share),
  ];
}

function sentence({ kind, name, amount, detail }: AttentionFact, { language }: MailContext, t: Translate): string {
  const [units, asset] = (amount ?? '').split(' ');
  const shown = asset === undefined ? '' : `${exact(language, units ?? '')} ${asset}`;
  return t(`kind_${kind}`, { name, amount: shown, detail: detail ?? t('no_answer') });
}

function moreOf(count: number, t: Translate): readonly Block[] {
  return count === 0 ? [] : [{ kind: 'text', text: t('attention_more', { count }) }];
}

function footer(content: MailContent, { siteUrl, unsubscribeUrl }: MailContext, t: Translate): readonly Block[] {
  const site = `${siteUrl}/dashboard`;
  if (content.kind === 'invitation') return [{ kind: 'small', text: t('footer_invitation', { site }) }];
  if ('address' in content) return [{ kind: 'small', text: t('footer_account', { site }) }];
  return [
    { kind: 'small', text: t('footer', { site, account: `${site}/account` }) },
    ...(unsubscribeUrl === null
      ? []
      : [{ kind: 'small' as const, text: t('footer_unsubscribe', { url: unsubscribeUrl }) }]),
  ];
}
