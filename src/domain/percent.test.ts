import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { formatPercent, parsePercent } from './percent.ts';

it('a percentage is read as exactly what was written', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 99_999 }), (basisPoints) => {
      expect(parsePercent(formatPercent(basisPoints))).toBe(basisPoints);
      const [whole, part] = [Math.floor(basisPoints / 100), basisPoints % 100];
      expect(parsePercent(`${whole}.${String(part).padStart(2, '0')}`)).toBe(basisPoints);
    }),
  );
});

it.each(['', '1.', '.5', '1.005', '-1', '+1', '1e1', '1000', '1,5', ' 1', '0x1', '１'])('%j is none', (text) => {
  expect(parsePercent(text)).toBeNull();
});
