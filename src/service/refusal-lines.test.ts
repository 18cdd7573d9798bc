import { expect, it } from 'vitest';
import { noteProblems } from '../../test/problems.ts';
import { createLogger } from './log.ts';
import { createRefusalLines, type PersonRefused } from './refusal-lines.ts';

function refusals() {
  const lines: Record<string, unknown>[] = [];
  const problems = noteProblems();
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) });
  let now = 0;
  const tell = createRefusalLines(log, problems, () => now);
  return {
    lines,
    noted: problems.noted,
    pass: (ms: number) => void (now += ms),
    refuse: (given: Partial<PersonRefused>) =>
      tell({
        what: 'sign-in',
        reason: 'the password was wrong',
        person: null,
        client: '192.0.2.1',
        request: null,
        ...given,
      }),
  };
}

it('a thousand wrong sign-ins at three dozen accounts leave lines of each account, and of each address', () => {
  const { refuse, lines, noted } = refusals();
  const people = Array.from({ length: 36 }, (_, index) => `person-${index}`);
  for (let guess = 0; guess < 30; guess += 1)
    for (const [index, person] of people.entries()) refuse({ person, client: `192.0.2.${index}` });
  expect(lines).toHaveLength(36 * 10);
  expect(new Set(lines.map(({ person }) => person))).toEqual(new Set(people));
  expect(lines[0]).toMatchObject({ level: 30, kind: 'refusal', person: 'person-0', client: '192.0.2.0' });
  // The others are counted, and logged once a minute.
  expect(noted).toHaveLength(36 * 20);
});

it('a flood at accounts that nobody has, and one from a single address, are bounded and hide nothing else', () => {
  const { refuse, lines, pass } = refusals();
  for (let guess = 0; guess < 5_000; guess += 1) refuse({ client: `2001:db8::${guess.toString(16)}` });
  expect(lines).toHaveLength(60);
  for (let person = 0; person < 5_000; person += 1) refuse({ person: `person-${person}`, client: '198.51.100.1' });
  expect(lines).toHaveLength(60 + 30);
  refuse({ person: 'ann', client: '203.0.113.1' });
  expect(lines.at(-1)).toMatchObject({ person: 'ann' });
  pass(60_000);
  refuse({ client: '2001:db8::1' });
  expect(lines).toHaveLength(92);
});
