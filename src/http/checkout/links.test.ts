import { describe, expect, it } from 'vitest';
import { FRAME } from './examples.fixture.ts';
import { LANGUAGES } from './language/locale.ts';
import { pageHref, paymentPath } from './present.ts';

describe('paymentPath', () => {
  it('keeps an id within its segment of the path', () => {
    expect(paymentPath('../"x/y?z', 'token')).toBe('/pay/..%2F%22x%2Fy%3Fz/token');
  });
});

describe('pageHref', () => {
  it('carries on what the visitor chose, and nothing that he did not', () => {
    expect(pageHref(FRAME, '/pay/x')).toBe('/pay/x');
    const locale = LANGUAGES.get('de') ?? FRAME.locale;
    const chosen = { locale, languageGiven: true, embed: 'https://shop.example', autoRefresh: false };
    expect(pageHref(chosen, '/pay/x')).toBe('/pay/x?lang=de&embed=https%3A%2F%2Fshop.example&refresh=off');
  });

  it('lets a link say another language than the one that it stands in', () => {
    expect(pageHref({ ...FRAME, languageGiven: true }, '/pay/x', { lang: 'fr' })).toBe('/pay/x?lang=fr');
  });
});
