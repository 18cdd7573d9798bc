import common from '../../../texts/dashboard/en/common.json' with { type: 'json' };
import type { MailLanguage } from '../../../src/domain/notification.ts';
import type { Text } from '../../../src/domain/text.ts';
import type { TextPart } from './parts.ts';

type Texts = Readonly<Record<string, Text>>;
type Part = TextPart | 'common';

/** One small file for each language and part; the build finds them. */
const FILES = import.meta.glob<Texts>(['./*/*.json', '!./en/common.json'], {
  base: '../../../texts/dashboard',
  import: 'default',
});

/** The texts that this tab has loaded; changing the language reloads the page. */
const loaded = new Map<string, Text>();
const parts = new Set<Part>();

/** Loads texts once; throws when they cannot be fetched. */
export async function loadTexts(code: MailLanguage, ...names: readonly Part[]): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      if (parts.has(name)) return;
      // The common texts in English are part of the first script, because most people need them.
      const texts = (await FILES[`./${code}/${name}.json`]?.()) ?? common;
      for (const [key, text] of Object.entries(texts)) loaded.set(key, text);
      parts.add(name);
    }),
  );
}

/** Whether a text of this name is loaded. */
export function hasText(key: string): boolean {
  return loaded.has(key);
}

export function textOf(key: string): Text {
  const text = loaded.get(key);
  if (text === undefined) throw new Error(`The text ${key} is not loaded.`);
  return text;
}

/** Throws if a page shows texts that `routes.tsx` does not load with it. */
export function requireTexts(names: readonly TextPart[]): void {
  const missing = names.filter((name) => !parts.has(name));
  if (missing.length > 0) throw new Error(`lazyPage must name the texts ${missing.join(', ')} of this page.`);
}
