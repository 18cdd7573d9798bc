import { CommanderError } from 'commander';
import { UsageFailure } from './failure.ts';
import { writeErrorLines } from './output.ts';
import { StoppedFailure } from './signals.ts';

const USAGE_EXIT_CODE = 2;

/** Reports the error on standard error, in the lines that `describe` makes of it, and returns the exit code. */
export async function exitCodeOf(
  error: unknown,
  describe: (error: unknown) => readonly string[] | Promise<readonly string[]>,
): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  writeErrorLines(await describe(error));
  if (error instanceof StoppedFailure) return error.exitCode;
  return error instanceof UsageFailure ? USAGE_EXIT_CODE : 1;
}
