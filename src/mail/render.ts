import { escapeHtml } from '../domain/html.ts';

/** A part of a mail. Its texts are plain: they are escaped where they become HTML. */
export type Block =
  | { readonly kind: 'text' | 'heading' | 'small'; readonly text: string }
  | { readonly kind: 'rows'; readonly rows: readonly (readonly [label: string, value: string])[] }
  | { readonly kind: 'list'; readonly items: readonly string[] }
  | { readonly kind: 'button'; readonly label: string; readonly url: string };

/** The mail as text, for programs that show no HTML and for people who prefer it. */
export function asText(blocks: readonly Block[]): string {
  return `${blocks.map(textOf).join('\n\n')}\n`;
}

function textOf(block: Block): string {
  switch (block.kind) {
    case 'heading':
      return `${block.text}\n${'-'.repeat(Math.min(60, block.text.length))}`;
    case 'rows':
      return block.rows.map(([label, value]) => `${label}: ${value}`).join('\n');
    case 'list':
      return block.items.map((item) => `- ${item}`).join('\n');
    case 'button':
      return `${block.label}:\n${block.url}`;
    case 'text':
    case 'small':
      return block.text;
  }
}

const FONT = "font-family:system-ui,-apple-system,'Segoe UI',Roboto,sans-serif";
const STYLES = {
  text: 'margin:0 0 16px',
  heading: 'margin:24px 0 8px;font-size:16px',
  small: 'margin:0 0 8px;font-size:13px;opacity:0.75',
  list: 'margin:0 0 16px;padding-left:20px',
  rows: 'margin:0 0 16px;border-collapse:collapse',
  label:
    'padding-block:4px;padding-inline:0 16px;text-align:start;font-weight:normal;white-space:nowrap;opacity:0.75;vertical-align:top',
  value: 'padding:4px 0;overflow-wrap:anywhere;vertical-align:top',
  // Programs with dark colours show it on them, and many logos are dark.
  logo: 'margin:-8px;padding:8px;border-radius:8px;background:#ffffff',
  button: 'display:inline-block;padding:10px 18px;border-radius:10px;color:#ffffff;text-decoration:none',
} as const;

/** The looks of a shop in a mail to its customer. */
export interface Looks {
  readonly name: string;
  /** Six hex digits, on which white is legible; null: the usual colour. */
  readonly accent: string | null;
  /** The logo that is attached as {@link LOGO_ID}, with its size in CSS pixels; null: the name stands in its place. */
  readonly logo: { readonly width: number; readonly height: number } | null;
}

/** The content id of the attached logo. */
export const LOGO_ID = 'logo';
const MAX_LOGO_HEIGHT = 48;
const USUAL_ACCENT = '0b6b5b';

/** The mail as HTML without scripts, remote images and style sheets, in the colours of the program that shows it. */
export function asHtml(language: string, title: string, blocks: readonly Block[], looks: Looks | null = null): string {
  const direction = new Intl.Locale(language).getTextInfo().direction === 'rtl' ? ' dir="rtl"' : '';
  return (
    `<!doctype html><html lang="${escapeHtml(language)}"${direction}><head><meta charset="utf-8"><title>${escapeHtml(title)}</title>` +
    '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"></head>' +
    `<body style="margin:0;padding:24px 16px;${FONT};font-size:15px;line-height:1.5"><div style="max-width:560px;margin:0 auto;overflow-wrap:anywhere;word-break:break-word">` +
    `${looks === null ? '' : headOf(looks)}${blocks.map((block) => htmlOf(block, looks?.accent ?? USUAL_ACCENT)).join('')}</div></body></html>`
  );
}

function headOf({ name, logo }: Looks): string {
  if (logo === null) return `<p style="margin:0 0 24px;font-size:18px;font-weight:600">${escapeHtml(name)}</p>`;
  const scale = Math.min(1, MAX_LOGO_HEIGHT / logo.height);
  const [width, height] = [logo.width, logo.height].map((pixels) => Math.max(1, Math.round(pixels * scale)));
  return `<p style="margin:0 0 24px"><img src="cid:${LOGO_ID}" alt="${escapeHtml(name)}" width="${width}" height="${height}" style="${STYLES.logo}"></p>`;
}

function htmlOf(block: Block, accent: string): string {
  switch (block.kind) {
    case 'heading':
      return `<h2 style="${STYLES.heading}">${escapeHtml(block.text)}</h2>`;
    case 'rows':
      return `<table role="presentation" style="${STYLES.rows}">${block.rows.map(rowOf).join('')}</table>`;
    case 'list':
      return `<ul style="${STYLES.list}">${block.items.map((item) => `<li>${escapeHtml(item)}</li>`).join('')}</ul>`;
    case 'button':
      return `<p style="${STYLES.text}"><a href="${escapeHtml(block.url)}" style="${STYLES.button};background:#${accent}">${escapeHtml(block.label)}</a></p>`;
    case 'text':
      return `<p style="${STYLES.text}">${withWholeNumbers(block.text)}</p>`;
    case 'small':
      return `<p style="${STYLES.small}">${withLinks(block.text)}</p>`;
  }
}

function rowOf([label, value]: readonly [string, string]): string {
  return `<tr><th scope="row" style="${STYLES.label}">${escapeHtml(label)}</th><td style="${STYLES.value}">${escapeHtml(value)}</td></tr>`;
}

/** Keeps numbers such as `INV-2026-0001` in one line. */
function withWholeNumbers(text: string): string {
  return escapeHtml(text).replaceAll(/\w{1,8}(?:-\d{1,8}){1,2}/g, '<span style="white-space:nowrap">$&</span>');
}

/** Makes links of the URLs in small print, which contains our own and the shop's for support. */
function withLinks(text: string): string {
  return escapeHtml(text).replaceAll(
    /https?:\/\/(?:[\w\-.:[\]/%?=#~@+]|&amp;)*[\w\]]/g,
    (url) => `<a href="${url}" style="color:inherit">${url}</a>`,
  );
}
