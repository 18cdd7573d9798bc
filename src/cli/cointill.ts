import { runCommandLine } from './command-line.ts';

const EXIT_PATIENCE_MS = 2_000;

// `cointill payment list | head` closes our output early, which is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
const code = await runCommandLine(process.argv.slice(2));
if (code !== 0) {
  process.exitCode = code;
  // A start that failed half-way may have left something open, which must not keep the process alive.
  setTimeout(() => process.exit(), EXIT_PATIENCE_MS).unref();
}
