import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { COMMAND_GROUPS } from '../config/called-as.ts';
import { encodeId } from '../domain/id.ts';
import { EXAMPLES } from './examples.ts';
import { GROUPS } from './groups.ts';

const ID = '0198a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b';
/** The values for placeholders in examples. */
const IDS: Readonly<Record<string, string>> = {
  ID,
  'dlv_…': 'dlv_7',
  'key_…': encodeId('key', ID),
  'ord_…': encodeId('order', ID),
  're_…': encodeId('refund', ID),
  'we_…': encodeId('endpoint', ID),
  'whsec_…': 'whsec_AAAA',
};

/** Every command that does something, by its words; none of them does it here. */
async function allCommands(): Promise<{ readonly root: Command; readonly paths: ReadonlyMap<string, Command> }> {
  const root = new Command('cointill');
  for (const group of COMMAND_GROUPS) (await GROUPS[group].load())(root.command(group));
  const paths = new Map<string, Command>();
  const visit = (command: Command, path: string): void => {
    command.exitOverride().configureOutput({ writeErr: () => {} });
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

describe('the examples in the help', () => {
  it('are there for each command, and for nothing else', async () => {
    const { paths } = await allCommands();
    expect(Object.keys(EXAMPLES).toSorted()).toEqual([...paths.keys()].toSorted());
  });

  it('are taken by their commands as they stand', async () => {
    for (const example of Object.values(EXAMPLES).flat()) {
      const { root } = await allCommands();
      // The shell takes what comes after <.
      const [command = ''] = example.split(' <');
      const words = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain = '']) =>
        quoted === undefined ? (IDS[plain] ?? plain) : quoted,
      );
      await expect(root.parseAsync(words, { from: 'user' })).resolves.toBe(root);
    }
  });
});
