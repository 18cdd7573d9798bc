import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { createProblemReporter, type ProblemLine } from './problems.ts';

/** A book on a clock that the test drives; it is looked into every second. */
function reporter() {
  const lines: ProblemLine[] = [];
  let now = 1_000;
  const problems = createProblemReporter(
    () => now,
    (line) => void lines.push(line),
  );
  const pass = (ms: number): void => {
    for (const end = now + ms; now < end;) {
      now = Math.min(end, now + 1_000);
      problems.flush();
    }
  };
  const reported = (): readonly string[] =>
    lines.splice(0).map((line) => {
      if (line.kind === 'began') return `${line.subject} began: ${String(line.problem)}`;
      if (line.kind === 'goes_on') return `${line.subject} ${line.times} more: ${String(line.problem)}`;
      return `${line.subject} over after ${line.lastedMs} ms, failed ${line.times} times`;
    });
  return { problems, pass, reported, now: () => now };
}

it('is logged at once when it begins, then once a minute with the number of failures, and once when it is over', () => {
  const { problems, pass, reported } = reporter();
  problems.failed('node', 'refused, 0');
  expect(reported()).toEqual(['node began: refused, 0']);
  for (let second = 0; second < 119; second += 1) {
    problems.failed('node', `refused, ${second}`);
    pass(1_000);
  }
  expect(reported()).toEqual(['node 60 more: refused, 59']);
  pass(1_000);
  expect(reported()).toEqual(['node 59 more: refused, 118']);
  problems.works('node');
  pass(9_000);
  expect(reported()).toEqual([]);
  pass(1_000);
  expect(reported()).toEqual(['node over after 120000 ms, failed 120 times']);
  pass(600_000);
  expect(reported()).toEqual([]);
});

it('is one problem where it fails every other time', () => {
  const { problems, pass, reported } = reporter();
  for (let second = 0; second < 60; second += 1) {
    problems.failed('node', 'refused');
    problems.works('node');
    pass(1_000);
  }
  expect(reported()).toEqual(['node began: refused', 'node 59 more: refused']);
  pass(60_000);
  expect(reported()).toEqual(['node over after 59000 ms, failed 60 times']);
});

it('that returns soon after it was over is logged with the next minute', () => {
  const { problems, pass, reported } = reporter();
  problems.failed('node', 'refused');
  problems.works('node');
  pass(10_000);
  expect(reported()).toEqual(['node began: refused', 'node over after 0 ms, failed 1 times']);
  problems.failed('node', 'refused');
  pass(59_000);
  expect(reported()).toEqual([]);
  pass(1_000);
  expect(reported()).toEqual(['node 1 more: refused']);
  problems.works('node');
  pass(10_000);
  expect(reported()).toEqual(['node over after 60000 ms, failed 1 times']);
});

it('that is over each time is counted as well, and has no end to log', () => {
  const { problems, pass, reported } = reporter();
  for (let request = 0; request < 38; request += 1) problems.happened('POST /v1/orders', `fault ${request}`);
  expect(reported()).toEqual(['POST /v1/orders began: fault 0']);
  pass(60_000);
  expect(reported()).toEqual(['POST /v1/orders 37 more: fault 37']);
  pass(60_000);
  problems.happened('POST /v1/orders', 'another');
  expect(reported()).toEqual(['POST /v1/orders began: another']);
});

it('with a new reason is logged at once, up to twelve reasons a minute', () => {
  const { problems, pass, reported } = reporter();
  for (const reason of ['refused', 'on chain 1', 'on chain 2', 'refused', 'lost 0xabcdef0123', 'lost 0x0123456789']) {
    problems.failed('node', reason);
  }
  expect(reported()).toEqual(['node began: refused', 'node 1 more: on chain 1', 'node 3 more: lost 0xabcdef0123']);
  for (const reason of 'a b c d e f g h i'.split(' ')) problems.failed('node', reason);
  for (let times = 0; times < 36; times += 1) problems.failed('node', `number ${'x'.repeat(times)}`);
  expect(reported()).toEqual([
    'node 2 more: a',
    ...'b c d e f g h i'.split(' ').map((reason) => `node 1 more: ${reason}`),
  ]);
  pass(60_000);
  expect(reported()).toEqual([`node 36 more: number ${'x'.repeat(35)}`]);
});

it('of one subject silences no other', () => {
  const { problems, reported } = reporter();
  problems.failed('a', 'x');
  problems.failed('b', 'x');
  problems.works('b');
  expect(reported()).toEqual(['a began: x', 'b began: x']);
});

it('fills no memory, however many subjects there are', () => {
  const { problems, reported } = reporter();
  for (let subject = 0; subject < 30_000; subject += 1) problems.failed(`endpoint ${subject}`, 'gone');
  expect(reported()).toHaveLength(30_000);
  problems.failed('endpoint 29999', 'gone');
  expect(reported()).toEqual([]);
  problems.failed('endpoint 0', 'gone');
  expect(reported()).toEqual(['endpoint 0 began: gone']);
});

it('is logged at most fourteen times a minute whatever happens, every failure is counted once, and every end follows a beginning', () => {
  const step = fc.record({
    what: fc.constantFrom('failed' as const, 'works' as const),
    reason: fc.constantFrom(...'a b c d e f g h i j k l m n o p q r s t'.split(' ')),
    waitMs: fc.oneof(fc.integer({ min: 0, max: 3_000 }), fc.integer({ min: 0, max: 200_000 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const lines: (ProblemLine & { readonly at: number })[] = [];
      let now = 0;
      const problems = createProblemReporter(
        () => now,
        (line) => void lines.push({ ...line, at: now }),
      );
      let failures = 0;
      const pass = (ms: number): void => {
        for (const end = now + ms; now < end; problems.flush()) now = Math.min(end, now + 1_000);
      };
      for (const { what, reason, waitMs } of steps) {
        if (what === 'failed') {
          problems.failed('it', reason);
          failures += 1;
        } else problems.works('it');
        pass(waitMs);
      }
      problems.works('it');
      pass(200_000);
      for (const { at } of lines) {
        expect(lines.filter((line) => line.at >= at && line.at < at + 60_000).length).toBeLessThanOrEqual(14);
      }
      const reported = lines.reduce((sum, line) => {
        if (line.kind === 'began') return sum + 1;
        return line.kind === 'goes_on' ? sum + line.times : sum;
      }, 0);
      // A subject that failed again and recovered within the minute is reported by its end alone.
      const ends = lines.filter(({ kind }) => kind === 'over').length;
      expect(reported).toBeLessThanOrEqual(failures);
      expect(failures > 0 ? reported : 1).toBeGreaterThan(0);
      expect(ends).toBeLessThanOrEqual(lines.length - ends);
      expect(lines.at(-1)?.kind ?? 'over').toBe('over');
    }),
  );
});
