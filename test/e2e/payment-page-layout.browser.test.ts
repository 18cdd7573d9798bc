import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES } from '../../src/http/checkout/language/locale.ts';
import { hasNoBrowser } from '../browser.ts';
import { isNight } from '../extent.ts';
import { useBrowser } from './payment-page.fixture.ts';
import { serveStates, type StateServer } from './payment-page-states.fixture.ts';

/** The narrowest page is tried in all languages; a night tries the next wider one in all of them too. */
const LONG_WORDS = ['de', 'pl', 'ru', 'ar'];

/** Elements that a keyboard or a finger can reach. */
const TARGETS = 'a[href], button, summary, select, textarea, input:not([type=hidden])';

/** Opens everything that the reader and the script can open, so that all parts are visible. */
const UNFOLD = `
  for (const one of document.querySelectorAll('[data-copy], [data-copy-page], [data-print], [data-returning], #wallets'))
    one.hidden = false;
  for (const one of document.querySelectorAll('details')) {
    one.removeAttribute('name');
    one.open = true;
  }`;

const MEASURE = `(() => {
  const wide = document.documentElement.scrollWidth > innerWidth;
  const name = (one) => one.outerHTML.slice(0, 80);
  const isSeen = (one) => one.checkVisibility() && one.closest('.unseen') === null;
  const beyond = [...document.querySelectorAll('body *')].filter((one) => {
    const { left, right } = one.getBoundingClientRect();
    return isSeen(one) && (left < -0.5 || right > innerWidth + 0.5);
  });
  const small = [...document.querySelectorAll('${TARGETS}')].filter((one) => {
    const { width, height } = one.getBoundingClientRect();
    return isSeen(one) && (width < 24 || height < 24);
  });
  // Words that overflow their box into the next one. The gap after the last group of a line may do so: nobody sees it.
  const isGapAlone = (one) => {
    const { right } = one.getBoundingClientRect();
    return one.matches('.grouped') && [...one.children].every((group) => group.getBoundingClientRect().right <= right);
  };
  const spilling = [...document.querySelectorAll('li, p, dt, dd, h1, h2, h3, button, a, summary, code, label')].filter(
    (one) => isSeen(one) && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1 && !isGapAlone(one),
  );
  return [
    ...spilling.map((one) => 'spills: ' + name(one)),
    ...(wide || beyond.length > 0 ? ['too wide: ' + beyond.map(name).join(' ')] : []),
    ...small.map((one) => 'too small: ' + name(one)),
  ];
})()`;

describe.skipIf(hasNoBrowser)('the layout of the payment page', () => {
  const openTab = useBrowser();
  let server: StateServer;
  beforeAll(async () => {
    server = await serveStates();
  });
  afterAll(() => server?.close());

  async function open(width: number, path = server.paths[0]): Promise<Page> {
    const { page } = await openTab({
      viewport: { width, height: 640 },
      // Zoomed to 200 %.
      deviceScaleFactor: 2,
      alsoAsks: [server.origin],
      expects: /status of (?:4|5)\d\d/,
    });
    await page.goto(`${server.origin}${path}`);
    return page;
  }

  /** The server's answers, which are the same at any width. */
  const texts = new Map<string, Promise<string>>();
  function textOf(path: string): Promise<string> {
    const text = texts.get(path) ?? fetch(`${server.origin}${path}`).then((answer) => answer.text());
    texts.set(path, text);
    return text;
  }

  /**
   * Puts the body of a state in place of the page's: a hundred times faster than loading four hundred pages, and laid
   * out the same. What is found is named by the state.
   */
  async function measure(page: Page, path: string): Promise<readonly string[]> {
    const found = await page.evaluate<string[]>(`((text) => {
      const { body, documentElement } = new DOMParser().parseFromString(text, 'text/html');
      document.documentElement.lang = documentElement.lang;
      document.documentElement.dir = documentElement.dir;
      document.body.replaceWith(body);
      ${UNFOLD}
      return ${MEASURE};
    })(${JSON.stringify(await textOf(path))})`);
    return found.map((one) => `${decodeURIComponent(path)}: ${one}`);
  }

  it.each([
    ['a phone zoomed to 200 %', 195, 'every language', [...LANGUAGES.keys()]],
    ['a small phone, or a page zoomed to 200 %', 320, 'its languages', isNight ? [...LANGUAGES.keys()] : LONG_WORDS],
    // The width at which the two columns begin and are at their narrowest.
    ['a small tablet', 834, 'languages of long words', LONG_WORDS],
  ])('on %s (%d px) fits in %s, with no target smaller than 24 px', async (_name, width, _languages, languages) => {
    const page = await open(width);
    const found: string[] = [];
    for (const path of server.paths)
      for (const language of languages) found.push(...(await measure(page, `${path}?lang=${language}`)));
    expect(found).toEqual([]);
  });

  it('leaves room for readers who set letters, words and lines farther apart (WCAG 1.4.12)', async () => {
    const page = await open(320);
    await page.evaluate(`const sheet = new CSSStyleSheet();
      sheet.replaceSync('* { line-height: 1.5 !important; letter-spacing: 0.12em !important; word-spacing: 0.16em !important } p { margin-bottom: 2em !important }');
      document.adoptedStyleSheets = [sheet];`);
    const found: string[] = [];
    for (const path of server.paths)
      for (const language of ['en', 'de', 'ar']) found.push(...(await measure(page, `${path}?lang=${language}`)));
    expect(found).toEqual([]);
  });

  it.each([320, 1280])('at %d px the Tab key comes to everything in order, where it can be seen', async (width) => {
    const page = await open(width);
    for (const path of server.paths) {
      await page.goto(`${server.origin}${path}`);
      const names = await page.evaluate<string[]>(`(() => {
        targets = [...document.querySelectorAll('${TARGETS}')].filter((one) => one.checkVisibility());
        return targets.map((one) => one.textContent.trim().slice(0, 40));
      })()`);
      const come: string[] = [];
      for (const _name of names) {
        await page.keyboard.press('Tab');
        come.push(await page.evaluate<string>(FOCUSED));
      }
      expect({ path, come }).toEqual({ path, come: names });
    }
  });

  it('prints nothing to press with a receipt', async () => {
    const receipts = server.paths.filter((one) => /completed|overpaid|accepted|refunds/.test(one));
    expect(receipts.length).toBeGreaterThan(5);
    const page = await open(794, receipts[0]);
    await page.emulateMedia({ media: 'print' });
    const found: string[] = [];
    for (const path of receipts) {
      await measure(page, path);
      const seen = `[...document.querySelectorAll('${TARGETS}')].filter((one) => one.checkVisibility())`;
      const names = await page.evaluate<string[]>(`${seen}.map((one) => one.textContent.trim())`);
      found.push(...names.map((name) => `${decodeURIComponent(path)}: ${name}`));
    }
    expect(found).toEqual([]);
  });

  it('does not move for readers who want it so', async () => {
    const path = server.paths.find((one) => decodeURIComponent(one).endsWith('payment, pay'));
    const page = await open(320, path);
    const moving = () => page.evaluate<number>('document.getAnimations().length');
    expect(await moving()).toBeGreaterThan(0);
    await page.emulateMedia({ reducedMotion: 'reduce' });
    expect(await moving()).toBe(0);
  });
});

/** The focused element, and the fault in how its focus is shown. */
const FOCUSED = `(() => {
  const one = document.activeElement;
  const name = one.textContent.trim().slice(0, 40);
  if (!targets.includes(one)) return 'not a target: ' + one.outerHTML.slice(0, 80);
  const { outlineStyle, outlineWidth } = getComputedStyle(one);
  if (outlineStyle === 'none' || parseFloat(outlineWidth) < 2) return name + ' shows no focus';
  // Browsers scroll to the line of a text that is written in, not to the whole field.
  const { left, top, width, bottom } = one.getBoundingClientRect();
  const there = document.elementFromPoint(left + width / 2, (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2);
  return one.contains(there) || there?.contains(one) ? name : name + ' is covered';
})()`;
