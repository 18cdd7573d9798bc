import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { ROOMS } from '../scripts/rooms.ts';
import { TRANSITIONS } from '../src/domain/transition.ts';

const ROOT = path.join(import.meta.dirname, '..');
const text = readFileSync(path.join(ROOT, 'ARCHITECTURE.md'), 'utf8');

it('the statuses of a payment follow one another as ARCHITECTURE.md draws them, and not otherwise', () => {
  const drawn = Array.from(text.matchAll(/^ +(\w+) --> (\w+)$/gm), ([, from, to]) => `${from} > ${to}`);
  const allowed = Object.entries(TRANSITIONS).flatMap(([from, all]) => all.map((to) => `${from} > ${to}`));
  expect(drawn).toEqual(allowed);
});

it('every room stands in the table of ARCHITECTURE.md, itself or with the room around it', () => {
  const named = new Set(Array.from(text.matchAll(/^\| `([\w/]+)\/` +\|/gm), ([, room = '']) => room));
  const missing = Object.keys(ROOMS).filter((room) => !named.has(room) && !named.has(room.split('/')[0] ?? ''));
  expect(missing).toEqual([]);
});
