import { existsSync } from 'node:fs';
import path from 'node:path';

/** The groups of commands of `cointill`, in the order of its help. */
export const COMMAND_GROUPS = [
  'start',
  'project',
  'customer',
  'key',
  'user',
  'audit',
  'webhook',
  'payment',
  'wallet',
  'network',
  'mail',
  'backup',
  'restore',
  'recover',
  'refund',
  'report',
  'sweep',
] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** A command in a message. Behind a slash it is a path, which says already how it is called. */
const COMMAND = new RegExp(`(?<![\\w./-])cointill(?= (?:${COMMAND_GROUPS.join('|')})\\b)`, 'g');

/**
 * A message whose commands, written as `cointill payment list`, can be copied: with `program`, such as
 * `./bin/cointill`, in place of `cointill`.
 */
export function withProgram(message: string, program: string): string {
  return message.replace(COMMAND, () => program);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The program, from the repository's root. */
const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

/**
 * How whoever reads our messages calls the program: `cointill` if the PATH leads to it, otherwise the path by which it
 * was called (`bin/cointill` passes it on as COINTILL_CALLED_AS), which may be relative to `cwd`. For a start by
 * `npm --prefix` from another folder that path would lead nowhere, so it is absolute there.
 */
export function calledAs(env: Environment, cwd: string): string {
  const given = env['COINTILL_CALLED_AS'] ?? '';
  if (given === '') return shellWord(PROGRAM);
  if (!given.includes('/')) return given;
  const from = env['INIT_CWD'];
  if (!path.isAbsolute(given)) return shellWord(from === undefined || from === cwd ? given : path.resolve(cwd, given));
  const name = path.basename(given);
  const folder = (env['PATH'] ?? '').split(path.delimiter).find((one) => existsSync(path.join(one, name)));
  return folder !== undefined && path.join(folder, name) === path.normalize(given) ? name : shellWord(given);
}

/** The command that has the service's settings, as `deploy/systemd/cointill` does; null: none is set. */
export function wrapperName(env: Environment): string | null {
  const given = env['COINTILL_CALLED_AS'] ?? '';
  return given === '' || given.includes('/') ? null : given;
}

/** A word as a shell has to be given it. */
export function shellWord(text: string): string {
  return /^[\w./:@%,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The program's name in answers to clients: an absolute path says where it is installed, which is not theirs. */
export function publicName(program: string): string {
  return /^'?\//.test(program) ? 'cointill' : program;
}
