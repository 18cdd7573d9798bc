import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type en from '../../texts/customer-mails/en.json';
import type { CoinFact, CustomerMail } from '../domain/mail-content.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../domain/money.ts';
import { NETWORK_FACTS } from '../domain/networks.ts';
import { fill, type TextValues } from '../domain/text.ts';
import { printableLine } from '../domain/visible.ts';
import type { ComposedMail } from './compose.ts';
import { asHtml, asText, type Block } from './render.ts';

const FOLDER = path.join(import.meta.dirname, '../../texts/customer-mails');
type TextKey = keyof typeof en;
/** Read once, at start; `scripts/check-texts.ts` compares each language with English. */
const TEXTS: ReadonlyMap<string, Readonly<Record<TextKey, string>>> = new Map(
  readdirSync(FOLDER).map((file) => [path.basename(file, '.json'), textsIn(file)]),
);

function textsIn(file: string): Readonly<Record<TextKey, string>> {
  return JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Readonly<Record<TextKey, string>>;
}

/** The languages of mails to customers, which are those of the payment page. */
export const CUSTOMER_LANGUAGES: readonly string[] = [...TEXTS.keys()].toSorted();

/** The text of a mail to a customer, in their language and with the looks of the shop; English if it is unknown. */
export function composeCustomerMail(mail: CustomerMail, language: string, refusalUrl: string): ComposedMail {
  const words = wordsOf(language);
  const { shop, payment } = mail;
  const { t } = words;
  const values = { shop: shop.name };
  const { subject, blocks } = newsOf(mail, words);
  const help = shop.supportUrl === null ? null : addressOf(shop.supportUrl);
  const all: readonly Block[] = [
    ...(payment.isTest ? [{ kind: 'text' as const, text: t('test') }] : []),
    ...blocks,
    ...(help === null ? [] : [{ kind: 'small' as const, text: t('help', { ...values, url: help }) }]),
    { kind: 'small', text: t('why', values) },
    { kind: 'small', text: t('leave', { ...values, url: refusalUrl }) },
  ];
  const head = printableLine(shop.name);
  return {
    subject,
    text: asText([{ kind: 'heading', text: head }, ...all]),
    html: asHtml(words.code, subject, all, { name: head, accent: shop.accent, logo: shop.logo }),
  };
}

/** The form of a link to the shop that people read: an e-mail address without `mailto:`. */
function addressOf(url: string): string {
  if (!url.startsWith('mailto:')) return url;
  const [address = ''] = url.slice('mailto:'.length).split('?');
  try {
    return decodeURI(address);
  } catch {
    // A lone % stands for itself.
    return address;
  }
}

interface Words {
  readonly code: string;
  readonly t: (key: TextKey, values?: TextValues) => string;
  readonly money: (minor: string, currency: Fiat) => string;
  readonly coin: (coin: CoinFact) => string;
  readonly time: (at: number) => string;
  /** A day, such as `2026-01-31`. */
  readonly day: (day: string) => string;
}

/** Digits are always Latin, as on the payment page, because amounts are compared with a wallet's. */
function wordsOf(language: string): Words {
  const code = TEXTS.has(language) ? language : 'en';
  const intl = `${code}-u-nu-latn`;
  const time = new Intl.DateTimeFormat(intl, { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' });
  const day = new Intl.DateTimeFormat(`${intl}-ca-gregory`, { dateStyle: 'long', timeZone: 'UTC' });
  return {
    code,
    t: (key, values = {}) => {
      const lines = Object.entries(values).map(([name, value]) => [name, printableLine(String(value), 2_000)]);
      return fill(TEXTS.get(code)?.[key] ?? '', Object.fromEntries(lines));
    },
    money: (minor, currency) => {
      const amount = formatDecimal(BigInt(minor), fiatDecimals(currency)) as Intl.StringNumericLiteral;
      const format = new Intl.NumberFormat(intl, { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
      const shown = format.format(amount);
      // A dollar sign alone may be that of several countries.
      return /[A-Z]{2}|€/.test(shown) ? shown : `${shown} ${currency}`;
    },
    // Every digit with a point, so that the amount can be compared and copied.
    coin: ({ amount, asset, network }) => `${amount} ${asset} (${NETWORK_FACTS[network].label})`,
    time: (at) => `${time.format(at)} UTC`,
    day: (text) => day.format(Date.parse(`${text}T00:00:00Z`)),
  };
}

interface News {
  readonly subject: string;
  readonly blocks: readonly Block[];
}

function newsOf(mail: CustomerMail, { t, money, coin, time, day }: Words): News {
  const { shop, payment } = mail;
  const values = { shop: shop.name, amount: money(payment.minor, payment.currency) };
  const order = [t('label_order'), payment.name] as const;
  switch (mail.kind) {
    case 'receipt':
      return {
        subject: t('receipt_subject', values),
        blocks: [
          { kind: 'text', text: t('receipt_text', values) },
          rows([
            order,
            [t('label_amount'), values.amount],
            ...(mail.paid === null ? [] : [[t('label_paid'), coin(mail.paid)] as const]),
            [t('label_time'), time(mail.at)],
          ]),
          { kind: 'button', label: t('button_receipt'), url: payment.pageUrl },
        ],
      };
    case 'part_arrived': {
      const [received, owed, missing] = [mail.received, mail.owed, mail.missing].map(coin);
      const facts = { received: received ?? '', owed: owed ?? '', missing: missing ?? '', until: time(mail.until) };
      return {
        subject: t('part_subject', values),
        blocks: [
          { kind: 'text', text: t('part_text', facts) },
          rows([order, [t('label_received'), facts.received], [t('label_missing'), facts.missing]]),
          { kind: 'button', label: t('button_part'), url: payment.pageUrl },
        ],
      };
    }
    case 'refund_claim': {
      // Money in a coin that was not quoted has no worth in the payment's currency.
      const amount = mail.minor === '0' ? coin(mail.coin) : money(mail.minor, mail.currency);
      const facts = { ...values, amount, coin: coin(mail.coin), until: time(mail.until) };
      return {
        subject: t('refund_subject', facts),
        blocks: [
          { kind: 'text', text: t('refund_text', facts) },
          rows([order, [t('label_amount'), facts.amount]]),
          { kind: 'button', label: t('button_refund'), url: mail.claimUrl },
        ],
      };
    }
    case 'invoice':
    case 'invoice_receipt':
    case 'invoice_due':
    case 'invoice_overdue': {
      const facts = { ...values, number: payment.name, date: day(mail.dueOn) };
      const isPaid = mail.kind === 'invoice_receipt';
      return {
        subject: t(`${mail.kind}_subject`, facts),
        blocks: [
          { kind: 'text', text: t(`${mail.kind}_text`, facts) },
          rows([
            [t('label_invoice'), payment.name],
            [t('label_amount'), values.amount],
            ...(isPaid ? [] : [[t('label_due'), facts.date] as const]),
          ]),
          { kind: 'button', label: t(isPaid ? 'button_receipt' : 'button_invoice'), url: payment.pageUrl },
        ],
      };
    }
  }
}

function rows(given: readonly (readonly [string, string])[]): Block {
  return { kind: 'rows', rows: given.map(([label, value]) => [label, printableLine(value, 2_000)] as const) };
}
