import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { urlAmbiguity, withoutQuery } from './web-url.ts';

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
    ['https://ｓhop.bücher.example/', 'host'],
    ['https://b%C3%BCcher.example/', 'host'],
    ['https://127.1/', 'host'],
    ['https://-a.example/', 'hyphen'],
    ['https://a-.example/', 'hyphen'],
    ['https://a.-/', 'hyphen'],
  ])('%j leads elsewhere for some readers: %s', (url, ambiguity) => {
    expect(urlAmbiguity(url, new URL(url))).toBe(ambiguity);
  });

  it('is never thrown over, whatever it is', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.webUrl(), fc.string({ unit: 'binary' })),
        fc.constantFrom('', 'https://'),
        (text, start) => {
          const url = URL.parse(start + text);
          fc.pre(url !== null);
          const ambiguity = url === null ? null : urlAmbiguity(start + text, url);
          expect([null, 'backslash', 'host', 'hyphen']).toContain(ambiguity);
        },
      ),
    );
  });
});

it('a URL is shown without its query and fragment, in which some carry a token', () => {
  expect(withoutQuery('https://shop.example:8443/hooks?token=a&b#c')).toBe('https://shop.example:8443/hooks?…');
  expect(withoutQuery('https://shop.example/hooks#c')).toBe('https://shop.example/hooks');
});
