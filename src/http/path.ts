/**
 * The path of a request's target (RFC 9112, 3.2), without the query. A target may be a whole URL, as proxies send it;
 * routes are matched by its path.
 */
export function pathOf({ url }: { readonly url: string }): string {
  const [target = ''] = url.split('?');
  return target.startsWith('/') ? target : target.replace(WHOLE_URL, '/');
}

/**
 * The path that logs may keep: the token of a link signs its holder in or switches mails off, and a segment with `@` is
 * somebody's e-mail address in place of an id.
 */
export function loggedPath(request: { readonly url: string }): string {
  const path = pathOf(request);
  // Most paths have neither, and thousands are logged per second.
  if (!/[@%]|\/(?:setup|unsubscribe)\//i.test(path)) return path;
  const segments = path.split('/').map((segment) => (hasAddress(segment) ? '…' : segment));
  return segments.join('/').replace(/^(\/dashboard\/(?:setup|unsubscribe)\/).+$/i, '$1…');
}

/** Some clients encode twice. At deeper levels only the sign itself is found. */
const MAX_DECODED = 3;

function hasAddress(segment: string): boolean {
  let text = segment;
  for (let round = 0; round < MAX_DECODED; round += 1) {
    text = text.replaceAll(/%[0-7][0-9a-f]/gi, (code) => String.fromCodePoint(Number.parseInt(code.slice(1), 16)));
  }
  return /@|%(?:25)*40/.test(text);
}

const WHOLE_URL = /^https?:\/\/[^/]*\/?/i;
