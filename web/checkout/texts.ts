/** Texts that only the script shows; the server renders them in the page's language into `#texts`. */
export type TextKey =
  | 'copied'
  | 'copy_failed'
  | 'working'
  | 'offline'
  | 'online'
  | 'wallet_request'
  | 'wallet_switch'
  | 'wallet_sent'
  | 'wallet_mined'
  | 'wallet_reverted'
  | 'wallet_lost'
  | 'wallet_rejected'
  | 'wallet_wrong_network'
  | 'wallet_failed'
  | 'returning'
  | 'local_time';

export type TextValues = Readonly<Record<string, string | number>>;

/** A text with its `{name}` placeholders filled in; those without a value are left out. */
export type Translate = (key: TextKey, values?: TextValues) => string;

/**
 * Reads `#texts` once: it is outside the part that is swapped. On a page without it all texts are empty, rather than
 * failing.
 */
export function readTexts(): Translate {
  const texts: Readonly<Record<string, string>> = JSON.parse(document.getElementById('texts')?.textContent || '{}');
  return (key, values = {}) =>
    (texts[key] ?? '').replace(/\{(\w+)\}/g, (_placeholder, name: string) => String(values[name] ?? ''));
}

/** Announces a text to screen readers. A text already there would not be read again, hence the silent space. */
export function announce(text: string): void {
  const announcer = document.getElementById('announcer');
  if (announcer === null || text === '') return;
  announcer.textContent = announcer.textContent === text ? `${text}\u00a0` : text;
}
