import { domainToUnicode } from 'node:url';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { urlAmbiguity } from './web-url.ts';

const ambiguityOf = (text: string): string | null => urlAmbiguity(text, new URL(text));

/** Pieces that readers of URLs disagree about, among plain ones. */
const PIECES = [
  ...['https:', 'http:', '//', '/', '\\', '@', ':', '#', '?', '.', '-', '%40', '%2F', '%2e', '%5C', '[::1]', '443'],
  ...[
    'shop.example',
    'evil.example',
    'bücher',
    'xn--bcher-kva',
    'ß',
    'ﬁ',
    '①',
    'ｅ',
    '。',
    '\u200d',
    '\u00ad',
    'İ',
    'A',
  ],
  ...['user', 'user:pass@', '127.1', '0x7f', 'é', 'e\u0301', ' ', '\t'],
];
const text = fc
  .tuple(
    fc.constantFrom('https://', 'http://', 'https:', 'HTTPS://', ''),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 6 }),
  )
  .map(([start, pieces]) => start + pieces.join(''));

/** What RFC 3986, appendix B, takes for user information and host: it knows no backslash and decodes nothing. */
function readByRfc(url: string): { readonly user: string | null; readonly host: string } {
  const authority = /^(?:[^:/?#]+:)?(?:\/\/([^/?#]*))?/.exec(url)?.[1] ?? '';
  const at = authority.lastIndexOf('@');
  const host = authority.slice(at + 1).replace(/:\d*$/, '');
  return { user: at < 0 ? null : authority.slice(0, at), host: host.toLowerCase() };
}

/** Whether each label is written as it is read, or is the international one that it is read from. */
function isSameName(written: string, read: string): boolean {
  if (written.startsWith('[')) return read.startsWith('[');
  const labels = read.split('.');
  const given = written.normalize('NFC').split('.');
  return (
    given.length === labels.length &&
    given.every((label, at) => [labels[at], domainToUnicode(labels[at] ?? '').normalize('NFC')].includes(label))
  );
}

describe('a URL', () => {
  it.each([
    ['https://shop.example/', null],
    ['https://Shop.Example:8443/a%5Cb?c=@#d', null],
    ['https://shop.example', null],
    ['https://shop.example./', null],
    ['https://bücher.example/', null],
    ['https://xn--bcher-kva.example/', null],
    ['https://BÜCHER.example/', null],
    ['https://[::1]:443/', null],
    ['https://[0:0::1]/', null],
    ['https://a--b.example/', null],
    ['https://under_score.example/', null],
    ['https://shop.example\\@evil.example/', 'backslash'],
    ['https:\\\\shop.example/', 'backslash'],
    ['https://shop.example/\\', 'backslash'],
    ['https://user@shop.example/', 'host'],
    ['https://@shop.example/', 'host'],
    ['https://shop.example:@evil.example/', 'host'],
    ['https:shop.example/', 'host'],
    ['https:/shop.example/', 'host'],
    ['https:///shop.example/', 'host'],
    ['https://shop%2Eexample/', 'host'],
    ['https://ｓhop.example/', 'host'],
    ['https://①.example/', 'host'],
    ['https://ﬁsh.example/', 'host'],
    ['https://shop\u00ad.example/', 'host'],
    ['https://127.1/', 'host'],
    ['https://-a.example/', 'hyphen'],
    ['https://a-.example/', 'hyphen'],
    ['https://a.-/', 'hyphen'],
  ])('%j leads elsewhere for some readers: %s', (url, ambiguity) => {
    expect(ambiguityOf(url)).toBe(ambiguity);
  });

  it('that is taken has one host and no user, by RFC 3986 as by the WHATWG standard, whatever is in it', () => {
    let taken = 0;
    fc.assert(
      fc.property(text, (candidate) => {
        const url = URL.parse(candidate);
        fc.pre(url !== null && urlAmbiguity(candidate, url) === null && !/[\s\p{Cc}]/u.test(candidate));
        taken += 1;
        const { user, host } = readByRfc(candidate);
        expect({ candidate, user }).toEqual({ candidate, user: null });
        const read = url?.hostname ?? '';
        // Letter by letter, capitals aside, so that a reader who maps or decodes nothing finds the same name.
        expect({ candidate, isSame: isSameName(host, read) }).toEqual({ candidate, isSame: true });
        // And what is stored is read as what was judged.
        expect(new URL(url?.href ?? '').hostname).toBe(read);
      }),
      { numRuns: 3_000 },
    );
    expect(taken).toBeGreaterThan(0);
  });

  it('is told of by nothing but the three ambiguities, and never throws', () => {
    fc.assert(
      fc.property(fc.oneof(text, fc.webUrl(), fc.string({ unit: 'binary' })), (candidate) => {
        const url = URL.parse(candidate);
        fc.pre(url !== null);
        const ambiguity = url === null ? null : urlAmbiguity(candidate, url);
        expect([null, 'backslash', 'host', 'hyphen']).toContain(ambiguity);
      }),
    );
  });
});
