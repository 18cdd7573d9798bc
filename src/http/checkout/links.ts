import type { Frame } from './view.ts';

/** What a visitor's links go on carrying: his language, the frame he sees the page in, and that it must not reload. */
type Carried = Pick<Frame, 'locale' | 'languageGiven' | 'embed' | 'autoRefresh'>;

/** A path of these pages with what the visitor has chosen, and `extra` parameters. */
export function pageHref(frame: Carried, path: string, extra: Readonly<Record<string, string>> = {}): string {
  const query = new URLSearchParams(extra);
  if (frame.languageGiven && !query.has('lang')) query.set('lang', frame.locale.code);
  if (frame.embed !== null) query.set('embed', frame.embed);
  if (!frame.autoRefresh && !query.has('refresh')) query.set('refresh', 'off');
  const text = query.toString();
  return text === '' ? path : `${path}?${text}`;
}

/** The page of a payment, or an action below it. */
export function paymentPath(paymentId: string, action?: 'token' | 'cancel' | 'simulate' | 'events'): string {
  const page = `/pay/${encodeURIComponent(paymentId)}`;
  return action === undefined ? page : `${page}/${action}`;
}
