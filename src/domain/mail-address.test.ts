import { expect, it } from 'vitest';
import { isEmail } from './mail-address.ts';

it.each([
  'anna@shop.example',
  'a@b',
  "o'neil+tag_1!#$%&*/=?^`{|}~-@sub.shop-a.example",
  `${'a'.repeat(241)}@shop.example`,
  `a@${'b'.repeat(63)}.example`,
])('%s is one address', (text) => {
  expect(isEmail(text)).toBe(true);
});

it.each([
  '',
  'anna',
  '@shop.example',
  'anna@',
  'anna@shop.example, ben@shop.example',
  'anna@shop.example;ben@shop.example',
  'anna@shop.example ben@shop.example',
  'Anna <anna@shop.example>',
  '"anna"@shop.example',
  'anna@shop.example\r\nBcc: eve@thief.example',
  'anna@shop.example\n',
  '\nanna@shop.example',
  'anna@ben@shop.example',
  'anna@-shop.example',
  'anna@shop-.example',
  'anna@shop.-example',
  'anna@shop.example-',
  'anna@shop..example',
  'anna@shop.example.',
  'ännä@shop.example',
  `${'a'.repeat(242)}@shop.example`,
  `a@${'b'.repeat(64)}.example`,
  `a@b.${'c'.repeat(64)}`,
])('%j is none', (text) => {
  expect(isEmail(text)).toBe(false);
});
