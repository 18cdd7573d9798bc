/**
 * Readers of files for accounting software, written from the published formats alone: they share no code with the
 * writers. DATEV: developer.datev.de, DATEV-Format, Header and Buchungsstapel (header 700, format version 13).
 * Xero: its template of a bank statement.
 */

/** A value as the file has it, without its quotes; `isText` if it had some. */
interface Field {
  readonly text: string;
  readonly isText: boolean;
}

/** Splits lines of separated values; quotes are doubled within quotes. */
function splitLines(text: string, separator: string): readonly (readonly Field[])[] {
  const lines: Field[][] = [[]];
  let [field, isQuoted, isText] = ['', false, false];
  const end = (): void => {
    lines.at(-1)?.push({ text: field, isText });
    [field, isQuoted, isText] = ['', false, false];
  };
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at] ?? '';
    if (isQuoted && char === '"' && text[at + 1] === '"') [field, at] = [`${field}"`, at + 1];
    else if (isQuoted && char === '"') isQuoted = false;
    else if (isQuoted) field += char;
    else if (char === '"' && field === '') [isQuoted, isText] = [true, true];
    else if (char === '"') throw new Error(`A quote within an unquoted field: ${field}`);
    else if (char === separator) end();
    else if (char === '\r' && text[at + 1] === '\n') {
      end();
      lines.push([]);
      at += 1;
    } else if (char === '\n' || char === '\r') throw new Error('A line ends without both of carriage return and feed.');
    else if (isText) throw new Error(`Text after the end of a quoted field: ${char}`);
    else field += char;
  }
  if (field !== '' || lines.pop()?.length !== 0) throw new Error('The last line does not end.');
  return lines;
}

export interface DatevBatch {
  readonly consultant: number;
  readonly client: number;
  /** Days as `20260131`. */
  readonly yearStart: string;
  readonly from: string;
  readonly to: string;
  readonly accountLength: number;
  readonly title: string;
  readonly bookings: readonly DatevBooking[];
}

export interface DatevBooking {
  readonly cents: bigint;
  readonly isDebit: boolean;
  readonly account: string;
  readonly contra: string;
  /** A day such as `20260131`: day and month from the line, the year from the header. */
  readonly day: string;
  readonly reference: string;
  readonly text: string;
  readonly id: string;
}

/** The expressions of the header's fields; those between quotes are texts. */
const HEADER: readonly RegExp[] = [
  /^"EXTF"$/,
  /^700$/,
  /^21$/,
  /^"Buchungsstapel"$/,
  /^13$/,
  /^20\d{15}$/,
  /^$/,
  /^"\w{0,2}"$/,
  /^"\w{0,25}"$/,
  /^"\w{0,25}"$/,
  /^(100[1-9]|10[1-9]\d|1[1-9]\d\d|[2-9]\d{3}|\d{5,7})$/,
  /^[1-9]\d{0,4}$/,
  /^20\d{6}$/,
  /^[4-8]$/,
  /^20\d{6}$/,
  /^20\d{6}$/,
  /^"[\w .-/]{0,30}"$/,
  /^"([A-Z]{2}){0,1}"$/,
  /^[12]$/,
  /^(0|30|40|50|64)$/,
  /^[01]$/,
  /^"[A-Z]{3}"$/,
  /^$/,
  /^"[A-Z]{0,2}"$/,
  /^$/,
  /^$/,
  /^"(\d{2}){0,2}"$/,
  /^\d{0,4}$/,
  /^$/,
  /^""$/,
  /^".{0,16}"$/,
];

/** The expressions of the columns that may be filled, by their number; every other column is empty. */
const COLUMNS: Readonly<Record<number, RegExp>> = {
  1: /^(?!0{1,10},00)\d{1,10},\d{2}$/,
  2: /^"(S|H)"$/,
  3: /^"EUR"$/,
  7: /^(?!0{1,9}$)\d{1,9}$/,
  8: /^(?!0{1,9}$)\d{1,9}$/,
  10: /^\d{4}$/,
  11: /^"[A-Za-z0-9_$%\-/]{1,36}"$/,
  14: /^".{1,60}"$/,
  48: /^".{0,20}"$/,
  49: /^".{0,210}"$/,
  50: /^".{0,20}"$/,
  51: /^".{0,210}"$/,
  114: /^0$/,
};
const NAMES: Readonly<Record<number, string>> = {
  1: 'Umsatz (ohne Soll/Haben-Kz)',
  2: 'Soll/Haben-Kennzeichen',
  7: 'Konto',
  8: 'Gegenkonto (ohne BU-Schlüssel)',
  10: 'Belegdatum',
  11: 'Belegfeld 1',
  14: 'Buchungstext',
  20: 'Beleglink',
  36: 'Beleginfo - Inhalt 8',
  47: 'BU 49 Funktionsergänzung',
  87: 'Zusatzinformation- Inhalt 20',
  105: 'SEPA-Mandatsreferenz',
  114: 'Festschreibung',
  125: 'Abw. Skontokonto',
};

const raw = ({ text, isText }: Field): string => (isText ? `"${text}"` : text);

/** Reads a batch of DATEV. Throws where the file breaks the published format. */
export function readDatev(bytes: Uint8Array): DatevBatch {
  const [header = [], names = [], ...lines] = splitLines(new TextDecoder('windows-1252').decode(bytes), ';');
  if (header.length !== HEADER.length) throw new Error(`The header has ${header.length} fields.`);
  header.forEach((field, at) => {
    if (HEADER[at]?.test(raw(field)) !== true) throw new Error(`Field ${at + 1} of the header: ${raw(field)}`);
  });
  if (names.length !== 125) throw new Error(`There are ${names.length} columns.`);
  for (const [at, name] of Object.entries(NAMES)) {
    if (names[Number(at) - 1]?.text !== name) throw new Error(`Column ${at} is ${names[Number(at) - 1]?.text}.`);
  }
  const value = (at: number): string => header[at - 1]?.text ?? '';
  const [yearStart, from, to, accountLength] = [value(13), value(15), value(16), Number(value(14))];
  const bookings = lines.map((line): DatevBooking => {
    if (line.length !== 125) throw new Error(`A line has ${line.length} fields.`);
    line.forEach((field, at) => {
      const rule = COLUMNS[at + 1];
      const isFine = field.text === '' ? rule === undefined || at >= 47 : rule?.test(raw(field)) === true;
      if (!isFine || /\p{Cc}/u.test(field.text)) throw new Error(`Column ${at + 1}: ${raw(field)}`);
    });
    const text = (at: number): string => line[at - 1]?.text ?? '';
    const [day, month] = [text(10).slice(0, 2), text(10).slice(2)];
    const year = Number(yearStart.slice(0, 4)) + (month < yearStart.slice(4, 6) ? 1 : 0);
    const booked = `${year}${month}${day}`;
    if (booked < from || booked > to) throw new Error(`${booked} is not between ${from} and ${to}.`);
    for (const at of [7, 8]) {
      if (text(at).length > accountLength + 1) throw new Error(`Account ${text(at)} is too long.`);
    }
    return {
      cents: BigInt(text(1).replace(',', '')),
      isDebit: text(2) === 'S',
      account: text(7),
      contra: text(8),
      day: booked,
      reference: text(11),
      text: text(14),
      id: text(49).split(' ')[0] ?? '',
    };
  });
  const [consultant, client, title] = [Number(value(11)), Number(value(12)), value(17)];
  return { consultant, client, yearStart, from, to, accountLength, title, bookings };
}

export interface XeroLine {
  /** `2026-01-31`. */
  readonly date: string;
  /** Signed, in hundredths. */
  readonly cents: bigint;
  readonly payee: string;
  readonly description: string;
  readonly reference: string;
}

/** Reads a bank statement for Xero. Throws where the file breaks the published format. */
export function readXero(bytes: Uint8Array): readonly XeroLine[] {
  const [head = [], ...lines] = splitLines(new TextDecoder('utf-8', { fatal: true }).decode(bytes), ',');
  const names = head.map(({ text }) => text);
  for (const name of ['*Date', '*Amount']) {
    if (!names.includes(name)) throw new Error(`There is no column ${name}.`);
  }
  return lines.map((line) => {
    if (line.length !== names.length) throw new Error(`A line has ${line.length} fields.`);
    const of = (name: string): string => line[names.indexOf(name)]?.text ?? '';
    const [date, amount] = [of('*Date'), of('*Amount')];
    if (!/^\d{4}-\d{2}-\d{2}$/.test(date)) throw new Error(`The date ${date}`);
    if (!/^-?\d+\.\d{2}$/.test(amount)) throw new Error(`The amount ${amount}`);
    const [payee, description, reference] = [of('Payee'), of('Description'), of('Reference')];
    return { date, cents: BigInt(amount.replace('.', '')), payee, description, reference };
  });
}
