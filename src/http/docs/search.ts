import type { GuideSection } from './guide-pages.ts';

/** A page to search in. */
export interface SearchedPage {
  /** Where it is, such as `/docs/webhooks`. */
  readonly path: string;
  readonly title: string;
  /** One line about it, which counts as a heading. */
  readonly about: string;
  readonly sections: readonly GuideSection[];
}

export interface SearchResult {
  readonly path: string;
  readonly title: string;
  /** The heading of the best section; empty: the beginning of the page. */
  readonly heading: string;
  readonly excerpt: readonly ExcerptPart[];
}

export interface ExcerptPart {
  readonly text: string;
  readonly isHit: boolean;
}

/** The weights of a word, by its place. The best place in a section counts. */
const TITLE = 6;
const HEADING = 4;
const TEXT = 1;
/** A word that only begins with the searched one, as `keyboard` does for `key`, counts less. */
const BEGUN = 0.4;
/** The share of words that stand elsewhere on the page than in its best section. */
const ELSEWHERE = 0.5;

const MAX_WORDS = 8;
export const MAX_RESULTS = 10;
const EXCERPT_LENGTH = 180;
const WORD = /[\p{L}\p{N}]+/gu;
/** Words of questions that say nothing about their topic. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'a about after all am an and any are as at be been before but by can could did do does doing for from had has have ' +
    'he her his how i if in into is it its just me my no not of on or our out over should so than that the their them ' +
    'then there these they this those to too under up was we were what when where which while who why will with would ' +
    'you your'
  ).split(' '),
);
/** Words that other payment services use, and ours. */
const OTHER_WORDS: ReadonlyMap<string, string> = new Map([
  ['2fa', 'factor'],
  ['mfa', 'factor'],
  ['callback', 'webhook'],
  ['callbacks', 'webhook'],
  ['ipn', 'webhook'],
  ['testnet', 'sandbox'],
]);

/**
 * Searches all pages in memory. A query of any length costs at most as much as eight words, each looked up in a sorted
 * list of all words.
 */
export function createSearch(pages: readonly SearchedPage[]): (query: string) => readonly SearchResult[] {
  const sections = pages.flatMap((page) => page.sections.map((section) => ({ page, section })));
  const vocabulary = indexWords(sections);

  /** The weight of one searched word in each section where it stands. Rare words count more. */
  const weigh = (stem: string): ReadonlyMap<number, number> => {
    const weights = new Map<number, number>();
    for (let at = lowerBound(vocabulary, stem); vocabulary[at]?.word.startsWith(stem) === true; at += 1) {
      const entry = vocabulary[at];
      // A tenth of all words begins with the same letter.
      if (stem.length === 1 && entry?.word !== stem) break;
      const share = entry?.stem === stem ? 1 : BEGUN;
      for (const [section, weight] of entry?.places ?? [])
        weights.set(section, Math.max(weights.get(section) ?? 0, weight * share));
    }
    const rarity = Math.log(1 + sections.length / Math.max(1, weights.size));
    return new Map([...weights].map(([section, weight]) => [section, weight * rarity]));
  };

  return (query) => {
    const stems = stemsOf(query);
    const weighed = stems.map(weigh);
    const scores = new Map<number, number>();
    for (const [index, weight] of weighed.flatMap((weights) => [...weights]))
      scores.set(index, (scores.get(index) ?? 0) + weight);
    const found = new Map<SearchedPage, { score: number; best: number; readonly words: number[] }>();
    for (const [index, score] of scores) {
      const page = sections[index]?.page;
      if (page === undefined) continue;
      const entry = found.get(page) ?? { score: 0, best: index, words: stems.map(() => 0) };
      if (score > entry.score) Object.assign(entry, { score, best: index });
      for (const [word, weights] of weighed.entries())
        entry.words[word] = Math.max(entry.words[word] ?? 0, weights.get(index) ?? 0);
      found.set(page, entry);
    }
    const total = ({ score, words }: { readonly score: number; readonly words: readonly number[] }): number =>
      score + ELSEWHERE * words.reduce((sum, weight) => sum + weight, 0);
    const ranked = [...found].toSorted(([, a], [, b]) => total(b) - total(a)).slice(0, MAX_RESULTS);
    return ranked.flatMap(([{ path, title }, { best }]) => {
      const section = sections[best]?.section;
      if (section === undefined) return [];
      const anchor = section.id === '' ? '' : `#${section.id}`;
      return { path: `${path}${anchor}`, title, heading: section.heading, excerpt: excerptOf(section.text, stems) };
    });
  };
}

/** One word of the pages, with the weight of its best place in each section. */
interface IndexedWord {
  readonly word: string;
  readonly stem: string;
  readonly places: readonly (readonly [section: number, weight: number])[];
}

/** All words, sorted. */
function indexWords(
  sections: readonly { readonly page: SearchedPage; readonly section: GuideSection }[],
): readonly IndexedWord[] {
  const places = new Map<string, Map<number, number>>();
  const add = (text: string, index: number, weight: number): void => {
    for (const word of wordsOf(text)) {
      const own = places.get(word) ?? new Map<number, number>();
      own.set(index, Math.max(own.get(index) ?? 0, weight));
      places.set(word, own);
    }
  };
  for (const [index, { page, section }] of sections.entries()) {
    add(page.title, index, TITLE);
    add(section.heading === '' ? page.about : section.heading, index, HEADING);
    add(section.text, index, TEXT);
  }
  return [...places.keys()]
    .toSorted()
    .map((word) => ({ word, stem: stemOf(word), places: [...(places.get(word) ?? [])] }));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(WORD) ?? [];
}

/** The searched words without endings. A query of nothing but stop words keeps them. */
function stemsOf(query: string): readonly string[] {
  const words = wordsOf(query);
  const telling = words.filter((word) => !STOP_WORDS.has(word));
  const stems = (telling.length > 0 ? telling : words).map((word) => stemOf(OTHER_WORDS.get(word) ?? word));
  return [...new Set(stems)].slice(0, MAX_WORDS);
}

/** A word without the ending of a plural or a verb, if enough of it is left. */
function stemOf(word: string): string {
  const ending = /(?:ies|ing|ed|es|s|e|y)$/.exec(word)?.[0] ?? '';
  return word.length - ending.length >= 3 ? word.slice(0, word.length - ending.length) : word;
}

/** The position of the first word that does not come before `word`. */
function lowerBound(sorted: readonly IndexedWord[], word: string): number {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.word ?? '') < word) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The part of a text around the first searched word, with all searched words marked. */
function excerptOf(text: string, stems: readonly string[]): readonly ExcerptPart[] {
  const isHit = (word: string): boolean => {
    const lower = word.toLowerCase();
    return stems.some((stem) => lower.startsWith(stem));
  };
  const first = text.matchAll(WORD).find(([word]) => isHit(word))?.index ?? 0;
  const from = first < EXCERPT_LENGTH / 2 ? 0 : text.lastIndexOf(' ', first - EXCERPT_LENGTH / 3) + 1;
  const end = text.length - from <= EXCERPT_LENGTH ? text.length : text.lastIndexOf(' ', from + EXCERPT_LENGTH);
  const shown = text.slice(from, end <= from ? from + EXCERPT_LENGTH : end);
  const parts: ExcerptPart[] = from > 0 ? [{ text: '… ', isHit: false }] : [];
  let done = 0;
  for (const { 0: word, index } of shown.matchAll(WORD)) {
    if (!isHit(word)) continue;
    parts.push({ text: shown.slice(done, index), isHit: false }, { text: word, isHit: true });
    done = index + word.length;
  }
  parts.push({ text: `${shown.slice(done)}${end < text.length ? ' …' : ''}`, isHit: false });
  return parts;
}
