import { readFile } from 'node:fs/promises';

/** One page of the guide, as `scripts/build-guide.ts` renders its Markdown. Texts contain marks such as `@@live@@`. */
export interface GuidePage {
  /** The name in its path: `/docs/<name>`. */
  readonly name: string;
  readonly title: string;
  /** One line about its content. */
  readonly about: string;
  readonly html: string;
  /** The Markdown, for programs that read it. */
  readonly source: string;
  /** Text without markup, by heading, for the search. The first section has no heading. */
  readonly sections: readonly GuideSection[];
}

export interface GuideSection {
  /** The anchor of the heading; empty for the beginning of the page. */
  readonly id: string;
  readonly heading: string;
  readonly text: string;
}

export interface GuideGroup {
  readonly title: string;
  readonly pages: readonly GuidePage[];
}

/** The values of the marks: this service's addresses, also on its own machine, and how its commands are called. */
export interface OwnWords {
  readonly live: string;
  readonly sandbox: string;
  readonly machine: string;
  readonly program: string;
}

/**
 * Reads the guide's build.
 *
 * @throws Error if there is no build
 */
export async function readGuide(file: string): Promise<readonly GuideGroup[]> {
  return JSON.parse(await readFile(file, 'utf8')) as readonly GuideGroup[];
}

/** Puts the values in the place of the marks. For markup, the values must be escaped before. */
export function fillMarks(text: string, words: OwnWords): string {
  return text.replaceAll(/@@(live|sandbox|machine|program)@@/g, (_, name: keyof OwnWords) => words[name]);
}

export function pagePath(name: string): string {
  return `/docs/${name}`;
}
