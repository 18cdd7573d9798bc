import type { Frame } from './view.ts';

/** What a visitor's links must preserve: the language, the frame that the page is in, and that it must not reload. */
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
