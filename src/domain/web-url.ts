/** What makes readers of URLs disagree about where one leads. */
export type UrlAmbiguity = 'backslash' | 'host' | 'hyphen';

/** The scheme, two slashes and the host, with a port at most. */
const HOST = /^https?:\/\/(\[[0-9a-f:.]+\]|[^/?#@:[\]]+)(?::\d*)?(?:[/?#]|$)/i;
/** Letters of all scripts, as they are in names, with the two joiners that some scripts need. */
const NAME_IN_LETTERS = /^(?:[\p{L}\p{M}\p{N}.-]|\u200C|\u200D)+$/u;

/**
 * Why an http or https URL leads elsewhere for one reader than for another, null where it does not. Browsers read a backslash
 * as a slash and decode what is percent-encoded in a host; RFC 3986 does neither, so that the user name of the one is the
 * host of the other. The host must be written as it is read, but for capital letters and international names.
 *
 * @param url `text` as the WHATWG URL standard reads it
 */
export function urlAmbiguity(text: string, url: URL): UrlAmbiguity | null {
  if (text.includes('\\')) return 'backslash';
  const host = HOST.exec(text)?.[1]?.toLowerCase();
  if (host === undefined || !isReadAsWritten(host, url.hostname)) return 'host';
  // No name has such a label (RFC 1123, section 2.1), and programs take one for an option.
  return url.hostname.split('.').some((label) => label.startsWith('-') || label.endsWith('-')) ? 'hyphen' : null;
}

function isReadAsWritten(host: string, read: string): boolean {
  // An IPv6 address has many spellings, and all readers know them.
  if (host.startsWith('[')) return read.startsWith('[');
  if (host === read) return true;
  // Wide or ligated letters, and digits in circles, are read as plain ones by some alone.
  const isInternational = NAME_IN_LETTERS.test(host) && host.normalize('NFC') === host.normalize('NFKC').toLowerCase();
  return isInternational && /(?:^|\.)xn--/.test(read);
}
