import { DatabaseError } from 'pg';
import { expect, it } from 'vitest';
import { NodeBehindError } from '../app/chains/follow-chain.ts';
import { BackupError } from '../archive/format.ts';
import { createLogger, writeProblem } from './log.ts';
import type { ProblemLine } from './problems.ts';

/** The lines that a logger writes of what the test tells it. */
function written(write: (log: ReturnType<typeof createLogger>) => void): readonly Record<string, unknown>[] {
  const lines: Record<string, unknown>[] = [];
  write(createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) }));
  return lines;
}

const problemLine = (line: Partial<ProblemLine>): ProblemLine =>
  ({ subject: 'watching bitcoin', details: {}, kind: 'began', ...line }) as ProblemLine;

it('a node that is behind is a warning without a stack', () => {
  const problem = new NodeBehindError('bitcoin', 3);
  const [line] = written((log) => writeProblem(log, problemLine({ problem })));
  expect(line).toEqual({
    level: 40,
    time: expect.any(Number),
    kind: 'trouble',
    subject: 'watching bitcoin',
    problem: problem.message,
    msg: `watching bitcoin: ${problem.message}`,
  });
  expect(problem.message).toContain('3 blocks behind');
});

it('a backup that cannot be made or restored, as its message explains, is a warning without a stack', () => {
  const problem = new BackupError('There is no folder /var/backups. Create it, or give another folder.');
  const [line] = written((log) => writeProblem(log, problemLine({ subject: 'scheduled backup', problem })));
  expect(line).toMatchObject({ level: 40, problem: problem.message });
  expect(line).not.toHaveProperty('err');
});

it('a fault of ours is an error with where it arose', () => {
  const [line] = written((log) => writeProblem(log, problemLine({ problem: new TypeError('x is undefined') })));
  expect(line).toMatchObject({ level: 50, err: { type: 'TypeError', stack: expect.stringContaining('log.test.ts') } });
});

it('a lasting problem is logged with its count, and its end with its duration', () => {
  const lines = written((log) => {
    writeProblem(log, problemLine({ kind: 'goes_on', problem: 'refused', times: 37, withinMs: 60_400 }));
    writeProblem(log, problemLine({ kind: 'goes_on', problem: 'refused', times: 1, withinMs: 1_800_000 }));
    writeProblem(log, problemLine({ kind: 'over', times: 38, lastedMs: 252_000 }));
  });
  expect(lines).toMatchObject([
    {
      level: 40,
      times: 37,
      within_ms: 60_400,
      msg: 'watching bitcoin: 37 times more in the last minute; now: refused',
    },
    { level: 40, times: 1, msg: 'watching bitcoin: 1 time more in the last 30 m; now: refused' },
    {
      level: 30,
      kind: 'trouble_over',
      times: 38,
      lasted_ms: 252_000,
      msg: 'watching bitcoin: working again after 4 m 12 s',
    },
  ]);
});

it('nothing of a row that the database refused is logged, though its error repeats it', () => {
  const fault = Object.assign(new DatabaseError('new row violates check constraint "payments_check"', 300, 'error'), {
    code: '23514',
    constraint: 'payments_check',
    detail: 'Failing row contains (ada@example.com, sk_live_secret).',
    where: 'JSON data, line 1: {"customer_email":"ada@example.com"}',
    parameters: ['ada@example.com'],
  });
  const lines = written((log) => {
    writeProblem(log, problemLine({ problem: new Error('saving failed', { cause: fault }) }));
    log.error({ err: fault }, 'told by hand');
  });
  expect(JSON.stringify(lines)).not.toMatch(/ada@example|sk_live/);
  expect(lines).toMatchObject([
    { err: { cause: { code: '23514', constraint: 'payments_check' } } },
    { err: { code: '23514' } },
  ]);
});
