import { raw, type Html } from '../../pages/html.ts';
import { once, type Locale, type TextKey } from './locale.ts';

/** Texts that only the page's script shows. */
const KEYS = [
  'copied',
  'copy_failed',
  'working',
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
  'local_time',
] as const satisfies readonly TextKey[];

/** The script's texts as JSON that cannot end its element; they are the program's own words. */
export const scriptTexts: (locale: Locale) => Html = once((locale) => {
  const texts = Object.fromEntries(KEYS.map((key) => [key, locale.texts[key]]));
  return raw(JSON.stringify(texts).replaceAll(/<|[^\0-\x7f]/g, escapeCodeUnit));
});

function escapeCodeUnit(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
