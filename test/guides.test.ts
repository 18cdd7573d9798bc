import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf, GUIDED_CHANGES, lineOf } from '../scripts/guided-changes.ts';

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, '..', file), 'utf8');

it.each(GUIDED_CHANGES)('the guide to $what can be followed: its code has a place in the files', (change) => {
  expect(blocksOf(read(`docs/how-to/${change.guide}`))).toHaveLength(change.blocks.length);
  // The files themselves are compiled and tried by `npm run count:touched`.
  const places = [...change.blocks, ...change.besides].filter(({ how }) => how !== 'new file');
  expect(() => places.map((place) => lineOf(read(place.file).split('\n'), place))).not.toThrow();
});
