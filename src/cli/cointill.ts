import { Command, CommanderError } from 'commander';
import { version } from '../config/version.ts';
import { clean } from '../service/plain-text.ts';
import { writeErrorLines } from './output.ts';

interface CommandGroup {
  readonly name: string;
  readonly description: string;
  /** Loads the group's module, which adds its commands; only the group that runs is loaded, for a quick start. */
  readonly load: () => Promise<(program: Command) => void>;
}

const GROUPS: readonly CommandGroup[] = [
  {
    name: 'start',
    description: 'start the service',
    load: async () => (await import('./start.ts')).addStartCommand,
  },
  {
    name: 'project',
    description: 'make, list and change projects',
    load: async () => (await import('./project.ts')).addProjectCommands,
  },
  {
    name: 'key',
    description: 'make, list and revoke API keys',
    load: async () => (await import('./key.ts')).addKeyCommands,
  },
  {
    name: 'user',
    description: 'say who may use the dashboard',
    load: async () => (await import('./user.ts')).addUserCommands,
  },
  {
    name: 'audit',
    description: 'see who changed what',
    load: async () => (await import('./audit.ts')).addAuditCommands,
  },
  {
    name: 'webhook',
    description: 'manage webhook endpoints, see and retry deliveries, receive them here',
    load: async () => (await import('./webhook.ts')).addWebhookCommands,
  },
  {
    name: 'payment',
    description: 'list, show, complete, simulate, accept and cancel payments',
    load: async () => (await import('./payment.ts')).addPaymentCommands,
  },
  {
    name: 'wallet',
    description: 'set the wallets that live payments go to',
    load: async () => (await import('./wallet.ts')).addWalletCommands,
  },
  {
    name: 'network',
    description: 'see how the chains are followed',
    load: async () => (await import('./network.ts')).addNetworkCommands,
  },
  {
    name: 'backup',
    description: 'copy everything into one file while the service runs, and check such files',
    load: async () => (await import('./backup.ts')).addBackupCommands,
  },
  {
    name: 'restore',
    description: 'make a new database of a backup',
    load: async () => (await import('./restore.ts')).addRestoreCommand,
  },
  {
    name: 'recover',
    description: 'sell on after moments were lost, and book the money that came in them',
    load: async () => (await import('./recover.ts')).addRecoverCommands,
  },
  {
    name: 'refund',
    description: 'see what to sign for a refund',
    load: async () => (await import('./refund.ts')).addRefundCommands,
  },
  {
    name: 'sweep',
    description: 'pay out what lies on deposit contracts',
    load: async () => (await import('./sweep.ts')).addSweepCommands,
  },
];

const EPILOGUE = `
Every command works while the service runs and while it does not, on the database that DATA_DIR (default: ./data)
or DATABASE_URL names. Commands that print a record take --json. Exit codes: 0 done, 1 refused or failed, 2 wrong usage,
130 or 143 stopped by Ctrl-C or SIGTERM.

Examples:
  $ cointill start
  $ cointill project create --name Shop
  $ cointill key create --project ID --mode test --kind secret --permission full --name Server
  $ cointill webhook listen --project ID
  $ cointill payment list`;

const USAGE_EXIT_CODE = 2;
const EXIT_PATIENCE_MS = 2_000;
/** A line that commander adds: our command names similar to what was typed. */
const SUGGESTION = /\n\(Did you mean [a-z, -]+\?\)$/;

await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<void> {
  // `cointill payment list | head` closes our output early, which is no fault.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
  try {
    const program = await buildProgram(args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = await report(error);
    // A start that failed half-way may have left something open, which must not keep the process alive.
    setTimeout(() => process.exit(), EXIT_PATIENCE_MS).unref();
  }
}

async function buildProgram(args: readonly string[]): Promise<Command> {
  const program = new Command('cointill')
    .description('Cointill: a self-hosted cryptocurrency payment service.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', EPILOGUE)
    .showHelpAfterError('Add --help to see what is possible.')
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(cleanUsageError(text)),
    });
  const wanted = args[0] === 'help' ? args[1] : args[0];
  for (const group of GROUPS) {
    if (group.name === wanted) (await group.load())(program);
    else program.command(group.name).description(group.description);
  }
  return program;
}

/** One line, whatever typed text it repeats, with commander's suggestion. */
function cleanUsageError(text: string): string {
  const message = text.replace(/\n$/, '').replace(/^error: (.)/, upperCaseFirst);
  const suggestion = SUGGESTION.exec(message)?.[0] ?? '';
  return `${clean(message.slice(0, message.length - suggestion.length))}${suggestion}\n`;
}

function upperCaseFirst(_whole: string, first: string): string {
  return first.toUpperCase();
}

/** Reports the error on standard error and returns the exit code. */
async function report(error: unknown): Promise<number> {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : USAGE_EXIT_CODE;
  // Loaded here and not above: successful commands do not need it.
  const [{ describeError, UsageFailure }, { StoppedFailure }] = await Promise.all([
    import('./failure.ts'),
    import('./signals.ts'),
  ]);
  writeErrorLines(describeError(error, process.env));
  if (error instanceof StoppedFailure) return error.exitCode;
  return error instanceof UsageFailure ? USAGE_EXIT_CODE : 1;
}
