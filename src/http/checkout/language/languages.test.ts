import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markupText } from '../../pages/html.ts';
import { chooseLanguage, ENGLISH, LANGUAGES, type TextKey } from './locale.ts';

const en = ENGLISH.texts;
const others = [...LANGUAGES.values()].filter((locale) => locale !== ENGLISH);
const keys = Object.keys(en) as readonly TextKey[];

describe('the languages', () => {
  it('are those that the guide of the payment page lists, one of them from right to left', () => {
    const guide = readFileSync(path.join(import.meta.dirname, '../../../../docs/guide/payment-page.md'), 'utf8');
    expect(/`\?lang=de` \(([a-z, ]+)\)/.exec(guide)?.[1]?.split(', ')).toEqual([...LANGUAGES.keys()].toSorted());
    expect(others.filter(({ direction }) => direction === 'rtl')).not.toEqual([]);
  });

  it('are named as they name themselves, and listed by these names', () => {
    const names = [...LANGUAGES.values()].map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['Deutsch', 'English', 'Português', 'Русский', 'العربية', '中文']));
    const alphabet = new Intl.Collator('en');
    expect(names.every((name, at) => at === 0 || alphabet.compare(names[at - 1] ?? '', name) < 0)).toBe(true);
  });

  it.each(others)('are no copies of the English texts: $name', ({ texts }) => {
    const same = keys.filter(
      (key) => texts[key] === en[key] && /[a-z]{3} [a-z]/i.test(en[key].replaceAll(/\{\w+\}/g, '')),
    );
    expect(same).toEqual([]);
  });

  it.each([...LANGUAGES.values()])('write money, times and durations in Latin digits: $name', (locale) => {
    expect(locale.fiat(123_456_789_012_345_678n, 'USD').replaceAll(/\D/g, '')).toBe('123456789012345678');
    expect(locale.fiat(49n, 'JPY')).toMatch(/49(?!\d)/);
    const at = Date.UTC(2026, 10, 21, 13, 5, 9);
    expect(markupText(locale.dateTime(at))).toMatch(/2026.*0?5[.:]09|0?5[.:]09.*2026/s);
    expect(locale.duration(65 * 60_000)).toMatch(/5/);
    expect(locale.duration(500)).not.toBe('');
  });
});

describe('the language of a visitor', () => {
  it('is the one in the address bar, else the first of the browser that there is, else English', () => {
    expect(chooseLanguage('de', 'fr').code).toBe('de');
    expect(chooseLanguage('pt-BR', undefined).code).toBe('pt');
    expect(chooseLanguage('xx', 'xy, zh-Hant-TW;q=0.8, en;q=0.5').code).toBe('zh');
    expect(chooseLanguage(undefined, 'en;q=0.5, AR-eg').code).toBe('ar');
    expect(chooseLanguage(['de', 'fr'], 'es;q=0, it;q=0.1').code).toBe('it');
    expect(chooseLanguage(undefined, undefined).code).toBe('en');
  });

  it('is one that there is, whatever is asked for', () => {
    fc.assert(
      fc.property(fc.anything(), fc.oneof(fc.string(), fc.constant('de;q=x, ;;, *;q=1')), (asked, header) => {
        expect(LANGUAGES.has(chooseLanguage(asked, header).code)).toBe(true);
      }),
    );
  });
});
