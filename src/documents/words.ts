import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type en from '../../texts/documents/en.json';
import { QUANTITY_DECIMALS, RATE_DECIMALS } from '../domain/invoice-document.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../domain/money.ts';
import { fill, type TextValues } from '../domain/text.ts';

const FOLDER = path.join(import.meta.dirname, '../../texts/documents');
export type DocumentText = keyof typeof en;
type Texts = Readonly<Record<DocumentText, string>>;
/** Read once, at start; `scripts/check-texts.ts` compares each language with English. */
const TEXTS: ReadonlyMap<string, Texts> = new Map(
  readdirSync(FOLDER).map((file) => [
    path.basename(file, '.json'),
    JSON.parse(readFileSync(path.join(FOLDER, file), 'utf8')) as Texts,
  ]),
);

/** The languages of documents, which are those of the payment page. */
export const DOCUMENT_LANGUAGES: readonly string[] = [...TEXTS.keys()].toSorted();

/** The title of an invoice, such as `Invoice INV-2026-0001`. */
export function documentTitle(language: string, number: string): string {
  return `${TEXTS.get(language)?.invoice ?? 'Invoice'} ${number}`;
}

export interface Words {
  readonly code: string;
  readonly isRightToLeft: boolean;
  readonly t: (key: DocumentText, values?: TextValues) => string;
  /** An amount in minor units, with the code of its currency, since a sign may be that of several. */
  readonly money: (minor: bigint) => string;
  /** The same without the currency, for columns. */
  readonly number: (minor: bigint) => string;
  readonly quantity: (thousandths: bigint) => string;
  readonly percent: (hundredths: number) => string;
  readonly day: (day: string) => string;
}

/** The words and numbers of a language; English if it is unknown. Digits are always Latin, as on the payment page. */
export function wordsOf(language: string, currency: Fiat): Words {
  const code = TEXTS.has(language) ? language : 'en';
  const intl = `${code}-u-nu-latn-ca-gregory`;
  const decimals = fiatDecimals(currency);
  const exact = (value: bigint, places: number) => formatDecimal(value, places) as Intl.StringNumericLiteral;
  const money = new Intl.NumberFormat(intl, { style: 'currency', currency, currencyDisplay: 'code' });
  const number = new Intl.NumberFormat(intl, { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
  const quantity = new Intl.NumberFormat(intl, { maximumFractionDigits: QUANTITY_DECIMALS });
  const percent = new Intl.NumberFormat(intl, { style: 'percent', maximumFractionDigits: RATE_DECIMALS });
  const day = new Intl.DateTimeFormat(intl, { dateStyle: 'long', timeZone: 'UTC' });
  return {
    code,
    isRightToLeft: new Intl.Locale(code).getTextInfo().direction === 'rtl',
    t: (key, values = {}) => fill(TEXTS.get(code)?.[key] ?? '', values),
    money: (minor) => money.format(exact(minor, decimals)),
    number: (minor) => number.format(exact(minor, decimals)),
    quantity: (thousandths) => quantity.format(exact(thousandths, QUANTITY_DECIMALS)),
    percent: (hundredths) => percent.format(exact(BigInt(hundredths), RATE_DECIMALS + 2)),
    day: (text) => day.format(Date.parse(`${text}T00:00:00Z`)),
  };
}
