import { raw, type Html } from './html.ts';
import type { Locale, TextKey } from './locale.ts';

/** What only the page's script says. */
const KEYS = [
  'copied',
  'copy_failed',
  'offline',
  'online',
  'wallet_request',
  'wallet_switch',
  'wallet_sent',
  'wallet_mined',
  'wallet_reverted',
  'wallet_lost',
  'wallet_rejected',
  'wallet_wrong_network',
  'wallet_failed',
  'returning',
  'no_match',
  'local_time',
] as const satisfies readonly TextKey[];

const written = new Map<Locale, Html>();

/** The script's texts as JSON that cannot end its element; they are the program's own words. */
export function scriptTexts(locale: Locale): Html {
  let json = written.get(locale);
  if (json === undefined) {
    const texts = Object.fromEntries(KEYS.map((key) => [key, locale.texts[key]]));
    json = raw(JSON.stringify(texts).replaceAll(/<|[^\0-\x9f]/g, escapeCodeUnit));
    written.set(locale, json);
  }
  return json;
}

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
