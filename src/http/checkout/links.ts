import type { Frame } from './view.ts';
import { URI_SCHEMES } from '../../domain/payment-uri.ts';

const WALLET_SCHEMES: ReadonlySet<string> = new Set(URI_SCHEMES.map((scheme) => `${scheme}:`));

/**
 * The link back to the shop: the merchant's URL with `payment_id` appended to its query. Null for anything but an
 * absolute http or https URL, so that `javascript:` and the like never become a link. The rest of the query is
 * unchanged, because shops may sign it.
 */
export function shopHref(url: string | null, paymentId: string): string | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return null;
  const parameter = `payment_id=${encodeURIComponent(paymentId)}`;
  parsed.search = parsed.search === '' ? `?${parameter}` : `${parsed.search}&${parameter}`;
  return parsed.href;
}

/** A payment URI as a link; null if its scheme is not one of ours. */
export function walletHref(uri: string | null): string | null {
  const parsed = uri === null ? null : URL.parse(uri);
  return parsed && WALLET_SCHEMES.has(parsed.protocol) ? uri : null;
}

/** The choices that a visitor's links must preserve: the language, the frame around the page, and no reloading. */
type Carried = Pick<Frame, 'locale' | 'languageGiven' | 'embed' | 'autoRefresh'>;

/** A path of these pages with the visitor's choices, and `extra` parameters. */
export function pageHref(frame: Carried, path: string, extra: Readonly<Record<string, string>> = {}): string {
  let query = '';
  const add = (name: string, value: string): void => {
    query += `${query === '' ? '?' : '&'}${name}=${encodeURIComponent(value)}`;
  };
  for (const name of Object.keys(extra)) add(name, extra[name] ?? '');
  if (frame.languageGiven && extra['lang'] === undefined) add('lang', frame.locale.code);
  if (frame.embed !== null) add('embed', frame.embed);
  if (!frame.autoRefresh && extra['refresh'] === undefined) add('refresh', 'off');
  return path + query;
}

/** The page of a payment, or an action below it. */
export function paymentPath(paymentId: string, action?: 'token' | 'cancel' | 'simulate' | 'events'): string {
  const page = `/pay/${encodeURIComponent(paymentId)}`;
  return action === undefined ? page : `${page}/${action}`;
}
