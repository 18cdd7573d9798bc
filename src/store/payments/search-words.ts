import { sql, type RawBuilder } from 'kysely';
import type { TypedAmount } from '../../domain/typed-amount.ts';
import type { ProjectMode } from '../../domain/permission.ts';
import type { PaymentKey } from './payment-keys.ts';

type Condition = RawBuilder<unknown>;

/** A part of a search without spaces. A payment matches it by its words, an amount or any of the keys. */
export interface SearchTerm {
  /**
   * In lower case, at least one. All follow one another in one of the payment's texts. The last may be the beginning of
   * a word, unless it is a single letter alone.
   */
  readonly words: readonly string[];
  readonly amounts: readonly TypedAmount[];
  readonly keys: readonly PaymentKey[];
}

/** Punctuation, signs, spaces and marks of direction separate words, as in the database's function `search_text`. */
const SEPARATORS = new RegExp(
  String.raw`[\u0001-\u002f\u003a-\u0040\u005b-\u0060\u007b-\u00bf\u00d7\u00f7\u2000-\u206f\u20a0-\u20cf\u3000-\u303f]+`,
);

/** The words of a text in lower case. */
export function wordsOf(text: string): readonly string[] {
  return text
    .normalize('NFC')
    .toLowerCase()
    .split(SEPARATORS)
    .filter((word) => word !== '');
}

/** The longest words of the index, and how much of an address or hash it holds. */
const MAX_WORD = 50;
const KEPT_OF_HASH = 12;

const TEXTS = sql`coalesce(merchant_order_id, '') || ' ' || coalesce(customer_email, '') || ' ' || coalesce(customer_name, '') || ' '
  || coalesce(description, '') || ' ' || coalesce(transaction_number, '')`;
const SCOPE = sql`right(project_id::text, 3) || left(mode, 1)`;
/** The expression of the index `payments_ended_by_words`. */
const WORDS = sql`search_words(${SCOPE}, search_text(${TEXTS} || ' ' || left(coalesce(address, ''), ${sql.lit(KEPT_OF_HASH)}) || ' '
  || left(coalesce(transaction_hash, ''), ${sql.lit(KEPT_OF_HASH)}) || ' ʬ' || currency || amount_minor::text))`;

const WHOLE_TEXTS = sql`${TEXTS} || ' ' || coalesce(address, '') || ' ' || coalesce(transaction_hash, '')`;
/** All words of a payment, with whole addresses and hashes. */
const PAYMENT_TEXT = textOf(WHOLE_TEXTS);

/** The conditions on a payment that has words of all terms, as the index of ended payments finds it. */
export function alongWords(terms: readonly SearchTerm[], { projectId, mode }: ProjectMode): readonly Condition[] {
  const scope = projectId.slice(-3) + mode.slice(0, 1);
  const query = terms.map((term) => queryOf(term, scope)).join(' & ');
  return [
    sql`${WORDS} @@ ${query}::tsquery`,
    ...terms.filter(needsWhole).map((term) => anyOf([onText(term, PAYMENT_TEXT), ...ofAmount(term)])),
  ];
}

/** The same for one term, and a payment that is read anyway. Most are ruled out before their words are made. */
export function onRow(term: SearchTerm): Condition {
  // A database of the locale C lowers ASCII alone.
  const pieces = term.words.flatMap((word) => withoutHexSign(word).match(/[\da-z]+/g) ?? []);
  const [longest = ''] = pieces.toSorted((a, b) => b.length - a.length);
  const first = sql`strpos(lower(${WHOLE_TEXTS}), ${longest}) > 0`;
  return anyOf([sql`(${first} and ${onText(term, PAYMENT_TEXT)})`, ...ofAmount(term)]);
}

/** The condition on a note that has a term's words. */
export function onNote(term: SearchTerm): Condition {
  const text = sql`search_text(body)`;
  const words = sql`search_words('', ${text}) @@ ${queryOf({ ...term, amounts: [] }, '')}::tsquery`;
  return needsWhole(term) ? sql`(${words} and ${onText(term, textOf(sql`body`))})` : words;
}

/** The condition on a label, one of the few of its project, that has a term's words. */
export function onLabel(term: SearchTerm): Condition {
  return onText(term, textOf(sql`name`));
}

function textOf(texts: Condition): Condition {
  return sql`(' ' || search_text(${texts}) || ' ')`;
}

/** Whether words, each between spaces, contain those of a term in their order. */
function onText({ words }: SearchTerm, text: Condition): Condition {
  const isWhole = words.length === 1 && words[0]?.length === 1;
  const wanted = words.map(withoutHexSign).join(' ') + (isWhole ? ' ' : '');
  const begins = HEX.test(words[0] ?? '') ? [wanted, `0x${wanted}`] : [wanted];
  return anyOf(begins.map((begin) => sql`strpos(${text}, ${` ${begin}`}) > 0`));
}

/** A term as PostgreSQL's text search reads it. Words contain nothing that it would take for more than a letter. */
function queryOf({ words, amounts }: SearchTerm, scope: string): string {
  const lexeme = (word: string, isBeginning: boolean): string => `'${scope}${word}'${isBeginning ? ':*' : ''}`;
  const all = words.flatMap((word, index) => {
    const isLast = index === words.length - 1;
    // A single letter alone begins too many words.
    const isBeginning = isLast && (index > 0 || word.length > 1);
    const forms = formsOf(word).map((form) => lexeme(form.text, isBeginning && form.isWhole));
    return [`(${forms.join(' | ')})`];
  });
  const prices = amounts.map(({ currency, minor }) => lexeme(`ʬ${currency.toLowerCase()}${minor}`, false));
  return `(${[all.join(' & '), ...prices].join(' | ')})`;
}

const HEX = /^(?:0x)?([0-9a-f]{4,})$/;
const withoutHexSign = (word: string): string => HEX.exec(word)?.[1] ?? word;

/** The forms in which the index may hold a word; not whole if it was cut off. */
function formsOf(word: string): readonly { readonly text: string; readonly isWhole: boolean }[] {
  const hex = HEX.exec(word)?.[1];
  const spelled = hex === undefined ? [word] : [hex, `0x${hex}`];
  return spelled.flatMap((text) => [
    { text: Array.from(text).slice(0, MAX_WORD).join(''), isWhole: text.length <= MAX_WORD },
    ...(text.length > KEPT_OF_HASH ? [{ text: text.slice(0, KEPT_OF_HASH), isWhole: false }] : []),
  ]);
}

/** Whether the index cannot tell that a text has the words in their order and length. */
function needsWhole({ words }: SearchTerm): boolean {
  return words.length > 1 || words.some((word) => word.length > KEPT_OF_HASH);
}

function ofAmount({ amounts }: SearchTerm): readonly Condition[] {
  const written = amounts.map(({ currency, minor }) => `${currency}${minor}`);
  return written.length === 0 ? [] : [sql`currency || amount_minor::text = any (${written}::text[])`];
}

function anyOf(conditions: readonly Condition[]): Condition {
  return sql`(${sql.join(conditions, sql` or `)})`;
}
