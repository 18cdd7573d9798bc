import { expect, it } from 'vitest';
import { durationText } from './plain-text.ts';
import { terminalLine } from './terminal-lines.ts';

const time = Date.UTC(2026, 10, 22, 13, 5, 9);
const line = (fields: object): string =>
  terminalLine(JSON.stringify({ level: 30, time, ...fields }), { isColoured: false });

it('shows the time, the level, the message and what the message does not say', () => {
  expect(
    line({ kind: 'payment_transition', payment: 'ord_1', from: 'pending', age_ms: 12, msg: 'payment ord_1: pending' }),
  ).toBe('13:05:09 INFO  payment ord_1: pending age_ms=12\n');
  expect(line({ msg: 'x', reason: 'two words' })).toBe('13:05:09 INFO  x reason="two words"\n');
});

it('shows how long a long list is, which nobody reads on a terminal', () => {
  expect(line({ msg: 'x', migrations: ['1', '2', '3', '4'], nodes: ['a'] })).toBe(
    '13:05:09 INFO  x migrations=4 nodes=["a"]\n',
  );
});

it('shows where a fault arose below it', () => {
  const err = { type: 'Error', message: 'why', stack: 'Error: why\n    at here (file.ts:1:2)' };
  expect(line({ level: 50, msg: 'worker: why', err })).toBe(
    '13:05:09 ERROR worker: why\n    Error: why\n    at here (file.ts:1:2)\n',
  );
});

it('lets nothing steer the terminal or add lines', () => {
  const hostile = 'bad\u001B[31mred\r\nforged\u202E';
  const text = line({ msg: hostile, node: hostile, err: { stack: hostile } });
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
  expect(text.split('\n').filter((one) => one.startsWith('forged'))).toEqual([]);
});

it('passes on what is no line of the log', () => {
  expect(terminalLine('not JSON\n', { isColoured: false })).toBe('not JSON\n');
  expect(terminalLine('null\n', { isColoured: false })).toBe('null\n');
});

it.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [1_000, '1 s'],
  [59_900, '1 m'],
  [252_000, '4 m 12 s'],
  [3_600_000, '1 h'],
  [3_605_000, '1 h 5 s'],
  [90_061_000, '1 d 1 h'],
])('%i ms are %s', (ms, text) => {
  expect(durationText(ms)).toBe(text);
});
