import { Command } from 'commander';
import { version } from '../config/built.ts';
import { calledAs, COMMAND_GROUPS, withProgram } from '../config/called-as.ts';
import { EXAMPLES } from './examples.ts';
import { exitCodeOf } from './exit-code.ts';
import { GROUPS } from './groups.ts';
import { addExamples, cleanUsageError } from './help.ts';

const EPILOGUE = `
Commands work whether or not the service is running. They use the database that DATA_DIR (default: ./data in a checkout) or
DATABASE_URL names; listen, events, trigger, invoice and request need only COINTILL_URL and COINTILL_KEY. To read the settings from a file, put --settings FILE before the command. Commands that print a
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

/** Runs one command, the words after the program's name, and returns its exit code; failures go to standard error. */
export async function runCommandLine(args: readonly string[]): Promise<number> {
  try {
    const program = await buildProgram(args);
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    // Loaded here and not above: successful commands do not need it.
    return exitCodeOf(error, async () => (await import('./refusal.ts')).describeError(error, process.env));
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
      outputError: (text, write) => write(cleanUsageError(text, EXAMPLES)),
    });
  const wanted = args[0] === 'help' ? args[1] : args[0];
  for (const group of COMMAND_GROUPS) {
    const { description, load } = GROUPS[group];
    const command = program.command(group).description(description);
    if (group === wanted) (await load())(command);
  }
  for (const command of program.commands) addExamples(command, name, '', EXAMPLES);
  return program;
}
