import { Command, CommanderError } from 'commander';
import { version } from '../config/built.ts';
import { calledAs, COMMAND_GROUPS, withProgram } from '../config/called-as.ts';
import { clean } from '../service/plain-text.ts';
import { EXAMPLES, GROUPS } from './groups.ts';
import { nearestName } from '../domain/nearest-name.ts';
import { writeErrorLines } from './output.ts';

const EPILOGUE = `
Commands work whether or not the service is running. They use the database that DATA_DIR (default: ./data in a checkout) or
DATABASE_URL names; listen, events and trigger need only COINTILL_URL and COINTILL_KEY. To read the settings from a file, put --settings FILE before the command. Commands that print a
record take --json.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 130 or 143 stopped by Ctrl-C or SIGTERM before it was done.

Examples:
  $ cointill start
  $ cointill project create --name Shop
  $ cointill key create --project ID --mode test --kind secret --permission full --name Server
  $ cointill listen --project ID
  $ cointill listen --forward-to localhost:3000/webhooks
  $ cointill payment list

To see an example of a command, add --help to the command.`;

const USAGE_EXIT_CODE = 2;
/** A line that commander adds: our command names similar to the typed one. */
const UNKNOWN_COMMAND = /^Unknown command '([^']*)'$/;
const SUGGESTION = /\n\(Did you mean [a-z, -]+\?\)$/;

/** Runs one command, the words after the program's name, and returns its exit code; failures go to standard error. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    const program = await buildProgram(args);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return report(error);
  }
}

async function buildProgram(args: readonly string[]): Promise<Command> {
  const name = calledAs(process.env, process.cwd());
  const program = new Command(name)
    .description('Cointill: a self-hosted cryptocurrency payment service.')
    .version(version(), '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand('help [command]', 'print help for a command')
    .addHelpText('after', withProgram(EPILOGUE, name))
    .showHelpAfterError('Add --help for usage.')
    .exitOverride()
    .configureOutput({
      outputError: (text, write) => write(cleanUsageError(text)),
    });
  const wanted = args[0] === 'help' ? args[1] : args[0];
  for (const group of COMMAND_GROUPS) {
    const { description, load } = GROUPS[group];
    const command = program.command(group).description(description);
    if (group === wanted) (await load())(command);
  }
  for (const command of program.commands) addExamples(command, name, '');
  return program;
}

/** Adds examples to the end of the help of a command and its subcommands. */
function addExamples(command: Command, program: string, above: string): void {
  const path = `${above}${command.name()}`;
  const examples = EXAMPLES[path] ?? [];
  if (examples.length > 0) {
    const lines = examples.map((example) => `\n  $ ${program} ${example}`);
    command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`);
  }
  for (const below of command.commands) addExamples(below, program, `${path} `);
}

/** The error on one line, including any typed text, with commander's suggestion, or ours if commander has none. */
function cleanUsageError(text: string): string {
  const message = text.replace(/\n$/, '').replace(/^error: (.)/, upperCaseFirst);
  const given = SUGGESTION.exec(message)?.[0] ?? '';
  const line = clean(message.slice(0, message.length - given.length));
  return `${line}${given === '' ? suggested(line) : given}\n`;
}

/**
 * Suggestions for a command typed without its group, such as `listen`, or with a typing error: the commands of that
 * name in all groups.
 */
function suggested(message: string): string {
  const unknown = UNKNOWN_COMMAND.exec(message)?.[1];
  if (unknown === undefined) return '';
  const paths = Object.keys(EXAMPLES).filter((path) => path.includes(' '));
  const lastWord = (path: string): string => path.slice(path.indexOf(' ') + 1);
  const meant = nearestName(new Set(paths.map(lastWord)), unknown);
  const found = paths.filter((path) => lastWord(path) === meant);
  return found.length === 0 ? '' : `\n(Did you mean ${found.join(', ')}?)`;
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
