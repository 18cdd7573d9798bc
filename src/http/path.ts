/**
 * The path of a request's target (RFC 9112, 3.2), without the query. A target may be a whole URL, as proxies send it;
 * routes are matched by its path.
 */
export function pathOf({ url }: { readonly url: string }): string {
  const [target = ''] = url.split('?');
  return target.startsWith('/') ? target : target.replace(WHOLE_URL, '/');
}

const WHOLE_URL = /^https?:\/\/[^/]*\/?/i;
