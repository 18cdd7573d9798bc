import { Command } from 'commander';
import { COMMAND_GROUPS } from '../config/called-as.ts';
import { encodeId } from '../domain/id.ts';
import { GROUPS } from './groups.ts';

const ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
/** The values for placeholders in examples. */
const IDS: Readonly<Record<string, string>> = {
  ID,
  'dlv_…': 'dlv_7',
  'key_…': encodeId('key', ID),
  'inv_…': encodeId('invoice', ID),
  'ord_…': encodeId('order', ID),
  'req_…': encodeId('request', ID),
  're_…': encodeId('refund', ID),
  'we_…': encodeId('endpoint', ID),
  'whsec_…': 'whsec_AAAA',
};

interface Commands {
  readonly root: Command;
  readonly paths: ReadonlyMap<string, Command>;
}

/** Every command that does something, by its words; none of them does it here. */
export async function allCommands(): Promise<Commands> {
  const root = new Command('cointill');
  for (const group of COMMAND_GROUPS) (await GROUPS[group].load())(root.command(group));
  const paths = new Map<string, Command>();
  const visit = (command: Command, path: string): void => {
    command.exitOverride().configureOutput({ writeErr: () => {}, writeOut: () => {} });
    // Groups do nothing by themselves but show their help.
    const does = command.registeredArguments.length > 0 || command.commands.length === 0 || path === 'recover';
    if (does)
      paths.set(
        path,
        command.action(() => {}),
      );
    for (const below of command.commands) visit(below, path === '' ? below.name() : `${path} ${below.name()}`);
  };
  visit(root, '');
  return { root, paths };
}

/** The words behind the program's name, without what the shell takes for itself. */
export function wordsOf(command: string): readonly string[] {
  const [own = ''] = command.split(/ (?:[<>|]|&&) | +# /);
  return [...own.matchAll(/'([^']*)'|"([^"]*)"|(\S+)/g)].map(
    ([, single, double, plain = '']) => single ?? double ?? IDS[plain] ?? plain,
  );
}
