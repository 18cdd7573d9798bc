import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { rejected } from '../rejected.ts';
import { checkName } from './name.ts';

const INVISIBLE = [
  '\u202E',
  '\u200B',
  '\u2060',
  '\uFEFF',
  '\u00AD',
  '\u3164',
  '\u115F',
  '\uFFA0',
  '\u2800',
  '\u180E',
  '\uFE0F',
  '\u{E0041}',
  ' ',
  '\u00A0',
  '\u3000',
];

it('a name of nothing but what nobody sees is refused, however long', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...INVISIBLE), { maxLength: 40 }), (parts) => {
      expect(checkName(parts.join(''))).toEqual(rejected('name_length', { param: 'name', max: 100 }));
    }),
  );
});

it.each(['\n', '\u0085', '\u2028', '\u2029'])('a name has no %j, which begins a line', (end) => {
  expect(checkName(`Tea${end}shop`)).toMatchObject({ code: 'name_length' });
});

it.each(['Shop', 'Łódź', '店', '🍕', '-', 'متجر\u200F 5', '👩\u200D🍳'])('%j is a name', (name) => {
  expect(checkName(name)).toBeNull();
});

it.each(['\u202A', '\u202E', '\u2066', '\u2069'])('a name that turns the text around it is refused: %j', (control) => {
  expect(checkName(`Shop ${control}evil`)).toEqual(rejected('name_direction', { param: 'name' }));
});

it.each(['a'.repeat(101), 'two\nlines', 'NUL\0', '\uD800'])('%j is none', (name) => {
  expect(checkName(name)).not.toBeNull();
});
