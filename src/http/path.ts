/**
 * The path of a request's target (RFC 9112, 3.2), without the query. A target may be a whole URL, as proxies send it;
 * routes are matched by its path.
 */
export function pathOf({ url }: { readonly url: string }): string {
  const [target = ''] = url.split('?');
  return target.startsWith('/') ? target : target.replace(WHOLE_URL, '/');
}

/** The path as the log may keep it: the token of a link lets its bearer in. */
export function loggedPath(request: { readonly url: string }): string {
  return pathOf(request).replace(/^(\/dashboard\/setup\/).+$/i, '$1…');
}

const WHOLE_URL = /^https?:\/\/[^/]*\/?/i;
