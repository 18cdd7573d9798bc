/** A strict reader of the pages' markup, for tests: what it cannot account for is an error. */
export interface Tag {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
}

const TAG = /<(?:!doctype html|(\/?)([a-z][a-z0-9]*)((?:\s+[a-zA-Z:-]+(?:="[^"<>]*")?)*)\s*\/?)>/g;
const ATTRIBUTE = /([a-zA-Z:-]+)(?:="([^"]*)")?/g;

/** Opening tags in order. Throws when a `<` or `>` stands outside of a well-formed tag: something was not escaped. */
export function tagsOf(markup: string): readonly Tag[] {
  const rest = markup.replace(TAG, '');
  const stray = /[<>]/.exec(rest);
  if (stray)
    throw new Error(`unescaped ${stray[0]} near: ${rest.slice(Math.max(0, stray.index - 40), stray.index + 40)}`);
  return Array.from(markup.matchAll(TAG))
    .filter(([, slash, name]) => name !== undefined && slash === '')
    .map(([, , name = '', attributes = '']) => ({
      name,
      attributes: new Map(
        Array.from(attributes.matchAll(ATTRIBUTE), ([, key = '', value = '']) => [key, decode(value)]),
      ),
    }));
}

/** The visible text: tags left out, entities decoded, white space as browsers show it. */
export function textOf(markup: string): string {
  return decode(
    markup
      .replace(/<head>.*?<\/head>/s, '')
      .replace(/<script.*?<\/script>/gs, '')
      .replace(TAG, ''),
  )
    .replace(/\s+/g, ' ')
    .trim();
}

/** Values of one attribute on one kind of tag, in order. */
export function valuesOf(markup: string, name: string, attribute: string): readonly string[] {
  return tagsOf(markup)
    .filter((tag) => tag.name === name)
    .flatMap((tag) => tag.attributes.get(attribute) ?? []);
}

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function decode(text: string): string {
  return text.replace(/&(?:(amp|lt|gt|quot|#39)|#(\d+));/g, (entity, name: string | undefined, code: string) =>
    name === undefined ? String.fromCodePoint(Number(code)) : (CHARACTERS[name] ?? entity),
  );
}
