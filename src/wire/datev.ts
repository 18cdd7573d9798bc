import { fiscalYearStart, type Booking, type BookingKind, type DatevSettings } from '../domain/bookkeeping.ts';
import type { Mode } from '../domain/permission.ts';
import type { Exception } from '../domain/payment.ts';
import type { ReportDays } from '../domain/report.ts';
import { isIncome, oneLine, withDecimals } from './booking-line.ts';
import { inWindows1252 } from './windows-1252.ts';

/**
 * The columns of DATEV's posting batch, format version 13, in their order; a quote before the name of one that has
 * text (developer.datev.de, DATEV-Format, Buchungsstapel).
 */
const COLUMNS: readonly string[] = [
  'Umsatz (ohne Soll/Haben-Kz)',
  '"Soll/Haben-Kennzeichen',
  '"WKZ Umsatz',
  'Kurs',
  'Basis-Umsatz',
  '"WKZ Basis-Umsatz',
  'Konto',
  'Gegenkonto (ohne BU-Schlüssel)',
  '"BU-Schlüssel',
  'Belegdatum',
  '"Belegfeld 1',
  '"Belegfeld 2',
  'Skonto',
  '"Buchungstext',
  'Postensperre',
  '"Diverse Adressnummer',
  'Geschäftspartnerbank',
  'Sachverhalt',
  'Zinssperre',
  '"Beleglink',
  ...pairs('Beleginfo - Art', 'Beleginfo - Inhalt', 8),
  '"KOST1 - Kostenstelle',
  '"KOST2 - Kostenstelle',
  'Kost-Menge',
  '"EU-Land u. UStID (Bestimmung)',
  'EU-Steuersatz (Bestimmung)',
  '"Abw. Versteuerungsart',
  'Sachverhalt L+L',
  'Funktionsergänzung L+L',
  'BU 49 Hauptfunktionstyp',
  'BU 49 Hauptfunktionsnummer',
  'BU 49 Funktionsergänzung',
  ...pairs('Zusatzinformation - Art', 'Zusatzinformation- Inhalt', 20),
  'Stück',
  'Gewicht',
  'Zahlweise',
  '"Forderungsart',
  'Veranlagungsjahr',
  'Zugeordnete Fälligkeit',
  'Skontotyp',
  '"Auftragsnummer',
  '"Buchungstyp',
  'USt-Schlüssel (Anzahlungen)',
  '"EU-Land (Anzahlungen)',
  'Sachverhalt L+L (Anzahlungen)',
  'EU-Steuersatz (Anzahlungen)',
  'Erlöskonto (Anzahlungen)',
  '"Herkunft-Kz',
  '"Buchungs GUID',
  'KOST-Datum',
  '"SEPA-Mandatsreferenz',
  'Skontosperre',
  '"Gesellschaftername',
  'Beteiligtennummer',
  '"Identifikationsnummer',
  '"Zeichnernummer',
  'Postensperre bis',
  '"Bezeichnung SoBil-Sachverhalt',
  'Kennzeichen SoBil-Buchung',
  'Festschreibung',
  'Leistungsdatum',
  'Datum Zuord. Steuerperiode',
  'Fälligkeit',
  '"Generalumkehr (GU)',
  'Steuersatz',
  '"Land',
  '"Abrechnungsreferenz',
  'BVV-Position',
  '"EU-Land u. UStID (Ursprung)',
  'EU-Steuersatz (Ursprung)',
  'Abw. Skontokonto',
];

function pairs(kind: string, content: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => [`"${kind} ${index + 1}`, `"${content} ${index + 1}`]).flat();
}

const WORDS: Readonly<Record<BookingKind, string>> = {
  receipt: 'Zahlungseingang',
  refund: 'Erstattung',
  fee: 'Netzwerkgebühr',
};
const EXCEPTIONS: Readonly<Record<Exclude<Exception, 'none'>, string>> = {
  reorged: 'zurückgenommen',
  paid_late: 'zu spät',
  underpaid: 'zu wenig',
  overpaid: 'zu viel',
};
const UMLAUTS: Readonly<Record<string, string>> = {
  ä: 'ae',
  ö: 'oe',
  ü: 'ue',
  Ä: 'Ae',
  Ö: 'Oe',
  Ü: 'Ue',
  ß: 'ss',
};

const [MAX_REFERENCE, MAX_TEXT, MAX_MORE] = [36, 60, 210];

const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;
const compact = (day: string): string => day.replaceAll('-', '');
/** A text in one line of DATEV's characters, cut to a number of them. */
const cut = (text: string, max: number): string => inWindows1252(oneLine(text)).slice(0, max);

/**
 * The first two lines: the batch, and the names of its columns. `madeAt` is like `20260131235959000`. Nothing is locked
 * in DATEV (Festschreibung 0), so that the tax consultant can correct bookings.
 */
export function datevHead(
  settings: DatevSettings,
  { days, mode, madeAt }: { readonly days: ReportDays; readonly mode: Mode; readonly madeAt: string },
): string {
  const { consultantNumber, clientNumber, fiscalYearMonth, accountLength } = settings;
  const title = `${mode === 'test' ? 'TEST ' : ''}Cointill ${days.from.slice(5, 7)}/${days.from.slice(0, 4)}`;
  const start = compact(fiscalYearStart(days.from, fiscalYearMonth));
  const head: readonly (string | number)[] = [
    '"EXTF";700;21;"Buchungsstapel";13',
    madeAt,
    ';"";"Cointill";""',
    consultantNumber,
    clientNumber,
    start,
    accountLength,
    compact(days.from),
    compact(days.to),
    quoted(title),
    '"";1;0;0;"EUR";;"";;;"";;;"";""',
  ];
  return lineOf(head) + lineOf(COLUMNS.map((column) => column.replace('"', '')));
}

/** A booking: the wallet's account is debited with money that came in (S), and credited with what went out (H). */
export function datevLine(booking: Booking, settings: DatevSettings): string {
  const { kind, day, minor, id, orderId, transaction } = booking;
  const contra = {
    receipt: settings.receiptsAccount,
    refund: settings.refundsAccount,
    fee: settings.feesAccount ?? '',
  };
  return lineWith({
    'Umsatz (ohne Soll/Haben-Kz)': withDecimals(minor, 2, ','),
    '"Soll/Haben-Kennzeichen': isIncome(booking) ? 'S' : 'H',
    '"WKZ Umsatz': 'EUR',
    Konto: settings.walletAccount,
    'Gegenkonto (ohne BU-Schlüssel)': contra[kind],
    Belegdatum: day.slice(8, 10) + day.slice(5, 7),
    '"Belegfeld 1': referenceOf(orderId) ?? referenceOf(id) ?? '',
    '"Buchungstext': cut(textOf(booking), MAX_TEXT),
    '"Zusatzinformation - Art 1': 'Cointill',
    '"Zusatzinformation- Inhalt 1': cut([id, orderId ?? ''].join(' '), MAX_MORE),
    ...(transaction !== null && {
      '"Zusatzinformation - Art 2': 'Transaktion',
      '"Zusatzinformation- Inhalt 2': transaction,
    }),
    // Left empty, DATEV locks the bookings.
    Festschreibung: '0',
  });
}

function textOf({ kind, amount, coin, exception, customer }: Booking): string {
  const parts = [
    `${WORDS[kind]} ${amount.replace('.', ',')} ${coin}`,
    ...(exception === null || exception === 'none' ? [] : [EXCEPTIONS[exception]]),
    ...(customer === null ? [] : [customer]),
  ];
  return parts.join(', ');
}

/** The number in the characters that DATEV takes: neither spaces nor full stops. Null without a letter or digit. */
function referenceOf(text: string | null): string | null {
  if (text === null) return null;
  const plain = text
    .normalize('NFC')
    .replaceAll(/[äöüÄÖÜß]/g, (letter) => UMLAUTS[letter] ?? '')
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^A-Za-z0-9_$%/-]+/g, '-')
    .replaceAll(/^-+|-+$/g, '');
  return /[A-Za-z0-9]/.test(plain) ? plain.slice(0, MAX_REFERENCE) : null;
}

const EMPTY: readonly string[] = COLUMNS.map((column) => (column.startsWith('"') ? '""' : ''));
const PLACES = new Map(COLUMNS.map((column, index) => [column, index]));

/** A line with the values of some columns. */
function lineWith(values: Readonly<Record<string, string>>): string {
  const fields = [...EMPTY];
  for (const [column, value] of Object.entries(values)) {
    fields[PLACES.get(column) ?? COLUMNS.length] = column.startsWith('"') ? quoted(value) : value;
  }
  return lineOf(fields);
}

function lineOf(values: readonly (string | number)[]): string {
  return `${values.join(';')}\r\n`;
}
