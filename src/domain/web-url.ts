/** Parts of a URL about whose destination URL parsers disagree. */
export type UrlAmbiguity = 'backslash' | 'host' | 'hyphen';

/** The scheme, two slashes and the host, optionally with a port. */
const HOST = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/?#@:[\]]+)(?::\d*)?(?:[/?#]|$)/i;
/** Letters of all scripts as they occur in names, with the two joiners that some scripts need. */
const NAME_IN_LETTERS = /^(?:[\p{L}\p{M}\p{N}.-]|\u200C|\u200D)+$/u;

/**
 * Why parsers disagree about the destination of an http or https URL; null if they agree. Browsers read a backslash as
 * a slash and decode percent-encoding in a host; RFC 3986 does neither, so that one parser's user name is another's
 * host. The host must be written as it is parsed, apart from capital letters and international names.
 *
 * @param url `text` as parsed by the WHATWG URL standard
 */
export function urlAmbiguity(text: string, url: URL): UrlAmbiguity | null {
  if (text.includes('\\')) return 'backslash';
  const host = HOST.exec(text)?.[1]?.toLowerCase();
  if (host === undefined || !isReadAsWritten(host, url.hostname)) return 'host';
  // No host name has such a label (RFC 1123, section 2.1), and programs take it for an option.
  return url.hostname.split('.').some((label) => label.startsWith('-') || label.endsWith('-')) ? 'hyphen' : null;
}

function isReadAsWritten(host: string, read: string): boolean {
  // An IPv6 address has many spellings, and all parsers know them.
  if (host.startsWith('[')) return read.startsWith('[');
  if (host === read) return true;
  // Only some parsers read wide or ligated letters and circled digits as plain ones.
  const isInternational = NAME_IN_LETTERS.test(host) && host.normalize('NFC') === host.normalize('NFKC').toLowerCase();
  return isInternational && /(?:^|\.)xn--/.test(read);
}

/** A URL for display elsewhere than on its own page: its query is hidden, because some carry a token. */
export function withoutQuery(text: string): string {
  const { origin, pathname, search } = new URL(text);
  return origin + pathname + (search === '' ? '' : '?…');
}
