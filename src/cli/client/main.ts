import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { CLIENT, calledAs, withProgram, type CLIENT_GROUPS } from '../../config/called-as.ts';
import { exitCodeOf } from '../exit-code.ts';
import { reasonOf } from '../failure.ts';
import { addExamples, cleanUsageError } from '../help.ts';
import { CLIENT_EXAMPLES } from './examples.ts';
import { addEventCommands } from './events.ts';
import { addInvoiceCommands } from './invoice.ts';
import { addListenOptions, listen } from './listen.ts';
import { addRequestCommands } from './request.ts';
import { addTriggerCommand } from './trigger.ts';
import { addVerifyCommand } from './verify.ts';

/*
 * The program of `npx @cointill/sdk`: the commands of `cointill` that need no more than the address of a service and a
 * key. `scripts/build-sdk.ts` bundles it.
 */

const EPILOGUE = `
Set COINTILL_URL to the address of the service and COINTILL_KEY to an API key; verify and listen --port need neither.
Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 130 or 143 stopped by Ctrl-C or SIGTERM before it was done.`;

const GROUPS: Readonly<Record<(typeof CLIENT_GROUPS)[number], (group: Command) => void>> = {
  listen: (group) => void addListenOptions(group).action(listen),
  events: (group) => addEventCommands(group.description('list, watch and send events again')),
  trigger: (group) => addTriggerCommand(group.description('make an event happen to a test order')),
  verify: (group) => addVerifyCommand(group.description('check the signatures of a webhook, and say what is wrong')),
  invoice: (group) => addInvoiceCommands(group.description('create, list, show and cancel invoices')),
  request: (group) => addRequestCommands(group.description('ask for money by a link')),
};

/** Runs one of these commands and returns its exit code. */
async function run(args: readonly string[]): Promise<number> {
  process.env['COINTILL_CALLED_AS'] ??= CLIENT;
  const name = calledAs(process.env, process.cwd());
  const program = new Command(name)
    .description('Commands for developers of a shop that takes payments with Cointill.')
    .version(version(), '-V, --version', 'print the version')
    .addHelpText('after', withProgram(EPILOGUE, name))
    .showHelpAfterError('Add --help for usage.')
    .exitOverride()
    .configureOutput({ outputError: (text, write) => write(cleanUsageError(text, CLIENT_EXAMPLES)) });
  for (const [group, add] of Object.entries(GROUPS)) add(program.command(group));
  for (const command of program.commands) addExamples(command, name, '', CLIENT_EXAMPLES);
  try {
    await program.parseAsync(args, { from: 'user' });
    return 0;
  } catch (error) {
    return exitCodeOf(error, () => [reasonOf(error)]);
  }
}

/** The version of the package, two folders above the built file. */
function version(): string {
  const { version: own }: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return own;
}

// `npx @cointill/sdk events list | head` closes our output early, which is no fault.
process.stdout.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
process.exitCode = await run(process.argv.slice(2));
