import { describe, expect, it } from 'vitest';
import { duplicatesIn } from '../scripts/duplicates.ts';

/** The places found in these files, as `file:first-last`. */
function found(...texts: readonly string[]): readonly (readonly string[])[] {
  const sources = texts.map((text, index) => ({ file: `${index}.ts`, text }));
  return duplicatesIn(sources).map(({ places }) => places.map(({ file, first, last }) => `${file}:${first}-${last}`));
}

const SUM = `import { a } from './a.ts';
/** The sum of all that count. */
export function sumOf(items: readonly Item[]): bigint {
  let sum = 0n;
  for (const { units, counts } of items) {
    if (!counts) continue;
    sum += units;
  }
  return sum / 2n;
}`;

describe('the finder of duplicates', () => {
  it('finds a copy with other names, values, comments and types, wherever it stands', () => {
    const renamed = `function weigh(parcels: Parcel[]) {
  let weight = 1;

  for (const { grams, isOurs } of parcels) {
    // Not ours.
    if (!isOurs) continue;
    weight += grams;
  }
  return weight / 1_000;
}`;
    expect(found(SUM, `const before = 1;\n${renamed}`)).toEqual([['0.ts:3-9', '1.ts:2-10']]);
  });

  it('reads what is drawn in JSX too', () => {
    const form = (name: string): string => `const ${name} = () => (
  <form onSubmit={() => send(${name})}>
    <h2>${name}</h2>
    <Field name="a" />
    {isBusy ? <Spinner /> : null}
    <p>{textOf(${name})}</p>
    <button type="submit">{${name}.label}</button>
  </form>
);`;
    const files = ['one', 'other'].map((name) => ({ file: `${name}.tsx`, text: form(name) }));
    expect(duplicatesIn(files).map(({ places }) => places.map(({ file }) => file))).toEqual([['one.tsx', 'other.tsx']]);
  });

  it('names every place once, and the longest run of lines', () => {
    expect(found(SUM, SUM, SUM)).toEqual([['0.ts:3-9', '1.ts:3-9', '2.ts:3-9']]);
    expect(found(`${SUM}\n${SUM.slice(SUM.indexOf('export'))}`)).toEqual([['0.ts:3-9', '0.ts:11-17']]);
  });

  it('finds short declarations in a row only where they are the same to the letter', () => {
    const constants = (name: string): string =>
      ['one', 'two(1)', '[three]', 'four + 4', '!five', '{ six }'].map((is) => `const ${name} = ${is};`).join('\n');
    expect(found(constants('a'), constants('a'))).toEqual([['0.ts:1-6', '1.ts:1-6']]);
    expect(found(constants('a'), constants('b'))).toEqual([]);
  });

  it('takes imports, types, and rows that hold names and values alone, for what they are', () => {
    const imports = Array.from({ length: 8 }, (_, n) => `import { x${n} } from './x${n}.ts';`).join('\n');
    const type = (name: string): string => `interface ${name} {\n${'  readonly x: number;\n'.repeat(8)}}`;
    const table = (name: string): string =>
      `const ${name} = {\n${Array.from({ length: 8 }, (_, n) => `  ${name}${n}: { a: ${n}, b: '${name}' },`).join('\n')}\n};`;
    expect(found(imports, imports)).toEqual([]);
    expect(found(type('A'), type('B'))).toEqual([]);
    expect(found(table('a'), table('b'))).toEqual([]);
  });

  it('tells queries apart by their tables and columns', () => {
    const query = (table: string): string => `async function read(db) {
  const rows = await db
    .selectFrom('${table}')
    .select(['id', 'name'])
    .where('id', '=', id)
    .orderBy('id')
    .execute();
  return rows.map(readRow);
}`;
    expect(found(query('payments'), query('refunds'))).toEqual([]);
    expect(found(query('payments'), query('payments').replaceAll('rows', 'found'))).toEqual([['0.ts:1-8', '1.ts:1-8']]);
  });
});
