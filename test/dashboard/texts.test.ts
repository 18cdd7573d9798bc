import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { textsIn } from '../../scripts/check-texts.ts';

const ROUTES = path.join(import.meta.dirname, '../../web/dashboard/routes.tsx');

it('each text of the dashboard has a name of its own, so that no part of the pages changes the words of another', () => {
  const keys = Object.keys(textsIn('texts/dashboard/en')).map((key) => key.split('.')[1]);
  expect(keys.length).toBeGreaterThan(100);
  expect(keys.filter((key, index) => keys.indexOf(key) !== index)).toEqual([]);
});

describe('the pages of the dashboard', () => {
  it('are loaded with the texts that they and what they import use, dialogs included, and with no others', async () => {
    const routes = await readFile(ROUTES, 'utf8');
    const pages = [...routes.matchAll(/lazyPage\(\s*\(\) => import\('(.+?)'\),\s*'\w+',?([^)]*)\)/g)];
    expect(pages.length).toBe(routes.split('lazyPage(').length - 1);
    for (const [, from = '', named = ''] of pages) {
      const used = await textsUsedBy(path.join(path.dirname(ROUTES), from), new Set());
      expect({ page: from, texts: words(named) }).toEqual({ page: from, texts: used });
    }
  });

  it('show no texts of single pages around them, but for the sign-in that a session’s end opens, and for news', async () => {
    const root = path.join(path.dirname(ROUTES), 'shell/root.tsx');
    expect(await textsUsedBy(root, new Set())).toEqual([]);
    expect(await readFile(root, 'utf8')).toContain("loadTexts(chosenLanguage(), 'access')");
    const layout = path.join(path.dirname(ROUTES), 'shell/layout.tsx');
    expect(await textsUsedBy(layout, new Set())).toEqual([]);
    expect(await readFile(layout, 'utf8')).toContain("loadTexts(chosenLanguage(), 'attention')");
  });
});

/** The parts that a module and its imports name, sorted; without those that they load themselves. */
async function textsUsedBy(file: string, seen: Set<string>): Promise<readonly string[]> {
  if (seen.has(file)) return [];
  seen.add(file);
  const source = await readFile(file, 'utf8');
  const own = [...source.matchAll(/useLocale\(([^)]*)\)/g)].flatMap(([, names = '']) => words(names));
  const imports = [...source.matchAll(/(?:from|import)[ (]'(\.[^']+\.tsx?)'/g)].map(([, from = '']) =>
    path.join(path.dirname(file), from),
  );
  // A table of dialogs names the texts that come with each.
  const loaded = [...source.matchAll(/(?:loadTexts\(chosenLanguage\(\),|\btexts: \[)([^)\]]*)[)\]]/g)].flatMap(
    ([, names = '']) => words(names),
  );
  const inner = await Promise.all(imports.map((one) => textsUsedBy(one, seen)));
  const used = new Set([...own, ...inner.flat()]);
  return [...used].filter((part) => !loaded.includes(part)).toSorted();
}

function words(list: string): readonly string[] {
  return [...list.matchAll(/'(\w+)'/g)].map(([, word = '']) => word).toSorted();
}
