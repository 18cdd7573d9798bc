import { fiatDecimals, formatDecimal, type Fiat } from '../domain/money.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import type { MailLanguage } from '../domain/notification.ts';
import type { CoinFact, MailContent, Named } from '../domain/mail-content.ts';
import { printableLine } from '../domain/visible.ts';
import type { Block } from './render.ts';

/** The recipient of a mail, and its links. */
export interface MailContext {
  readonly language: MailLanguage;
  /** The IANA name of the recipient's zone. */
  readonly zone: string;
  /** The dashboard's URL, without a trailing slash. */
  readonly siteUrl: string;
  /** The link of an invitation or of a new address. */
  readonly link: string | null;
  /** Null: this kind cannot be switched off. */
  readonly unsubscribeUrl: string | null;
}

export interface Body {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

export type Of<Kind extends MailContent['kind']> = Extract<MailContent, { readonly kind: Kind }>;

export function heading(text: string): Block {
  return { kind: 'heading', text: printableLine(text) };
}

export function rows(given: readonly (readonly [string, string])[]): Block {
  return { kind: 'rows', rows: given.map(([label, value]) => [label, printableLine(value, 2_000)] as const) };
}

/** A page of the project, in live mode, which mails are about. */
export function button(label: string, { siteUrl }: MailContext, { id }: Named, page: string): Block {
  return { kind: 'button', label, url: `${siteUrl}/dashboard/projects/${id}/live${page === '' ? '' : `/${page}`}` };
}

/** An exact amount of any size: Intl accepts decimal text. */
export function money(language: MailLanguage, minor: string, currency: Fiat): string {
  const amount = formatDecimal(BigInt(minor), fiatDecimals(currency)) as Intl.StringNumericLiteral;
  return new Intl.NumberFormat(language, { style: 'currency', currency }).format(amount);
}

/** An exact amount of a coin, with its network, as people of the language write it. */
export function coin(language: MailLanguage, { amount, asset, network }: CoinFact): string {
  return `${exact(language, amount)} ${asset} (${NETWORK_FACTS[network].label})`;
}

/** A decimal text as people of the language write it, with all of its decimals. */
export function exact(language: MailLanguage, amount: string): string {
  const format = new Intl.NumberFormat(language, { maximumFractionDigits: 20, useGrouping: 'auto' });
  return format.format(amount as Intl.StringNumericLiteral);
}

export function timeText({ language, zone }: MailContext, at: number): string {
  return new Intl.DateTimeFormat(language, {
    year: 'numeric',
    month: 'short',
    day: 'numeric',
    hour: 'numeric',
    minute: '2-digit',
    // With seconds, so that the later of two changes in a minute is known even if their mails arrive in the other
    // order.
    second: '2-digit',
    timeZone: zone,
    timeZoneName: 'short',
  }).format(at);
}

export function dayText({ language }: MailContext, day: string): string {
  return new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeZone: 'UTC' }).format(Date.parse(day));
}
