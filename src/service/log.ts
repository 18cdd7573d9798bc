import { pino, type DestinationStream, type Logger } from 'pino';
import { calledAs, withProgram } from '../config/called-as.ts';
import type { Config } from '../config/config.ts';
import type { Problems } from '../domain/problems.ts';
import { faultFields, isExplained, messageOf } from './faults.ts';
import { durationText } from './plain-text.ts';
import { terminalLine } from './terminal-lines.ts';
import { createProblemReporter, type ProblemLine } from './problems.ts';

/** Lines that cannot be written wait in memory up to this size; the service drops further lines and continues. */
const MAX_UNWRITTEN_BYTES = 16 * 1024 * 1024;
/** Fields that a fault may carry by mistake. */
const SECRETS = ['authorization', 'key', 'secret', 'password', 'token', 'connectionString'];

/**
 * A logger with one line per event on standard error: JSON, or text on a terminal. Secrets are left out, and errors are
 * reduced to their message and stack.
 */
export function createLogger(level: Config['logLevel'], stream: DestinationStream = standardError()): Logger {
  return pino(
    {
      level,
      redact: [...SECRETS, ...SECRETS.map((name) => `*.${name}`), 'req.headers.authorization'],
      base: {},
      serializers: { err: (fault: unknown) => faultFields(fault) },
    },
    stream,
  );
}

/**
 * Standard error, which may go away: a closed terminal accepts nothing more, and unwritten lines must not keep the
 * process alive.
 */
function standardError(): DestinationStream {
  const stream = pino.destination({ fd: 2, sync: false, maxLength: MAX_UNWRITTEN_BYTES });
  const nothing = (): void => {};
  stream.on('error', (error: NodeJS.ErrnoException) => {
    // pino's own flush at the end would try forever.
    Object.assign(stream, { flushSync: nothing });
    if (error.code === 'EIO') Object.assign(stream, { write: nothing, end: nothing });
  });
  if (!process.stderr.isTTY) return stream;
  const isColoured = (process.env['NO_COLOR'] ?? '') === '';
  const program = calledAs(process.env, process.cwd());
  return { write: (line) => void stream.write(withProgram(terminalLine(line, { isColoured }), program)) };
}

const FLUSH_MS = 1_000;

/** Logs problems for as long as the process runs. */
export function logProblems(log: Logger): Problems {
  const reporter = createProblemReporter(
    () => performance.now(),
    (line) => writeProblem(log, line),
    messageOf,
  );
  setInterval(() => reporter.flush(), FLUSH_MS).unref();
  return reporter;
}

/** Writes one line about a problem: a warning for a fault of a known kind, an error with its stack for a bug. */
export function writeProblem(log: Logger, line: ProblemLine): void {
  const { subject, details } = line;
  if (line.kind === 'over') {
    const { times, lastedMs } = line;
    const fields = { kind: 'trouble_over', ...details, subject, times, lasted_ms: Math.round(lastedMs) };
    log.info(fields, `${subject}: working again after ${durationText(lastedMs)}`);
    return;
  }
  const message = messageOf(line.problem);
  const isKnown = isExplained(line.problem);
  const fields = { ...details, subject, problem: message, ...(isKnown ? {} : { err: line.problem }) };
  const level = isKnown ? 'warn' : 'error';
  if (line.kind === 'began') {
    log[level]({ kind: 'trouble', ...fields }, `${subject}: ${message}`);
    return;
  }
  const { times, withinMs } = line;
  const within = withinMs < 2 * 60_000 ? 'minute' : durationText(withinMs);
  log[level](
    { kind: 'trouble_goes_on', ...fields, times, within_ms: Math.round(withinMs) },
    `${subject}: ${times} ${times === 1 ? 'time' : 'times'} more in the last ${within}; now: ${message}`,
  );
}
