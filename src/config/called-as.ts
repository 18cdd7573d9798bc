import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

/** The groups that work without the service, which `npx @cointill/sdk` has too. */
export const CLIENT_GROUPS = ['listen', 'events', 'trigger', 'verify', 'invoice', 'request'] as const;

/** The groups of commands of `cointill`, in the order of its help. */
export const COMMAND_GROUPS = [
  'start',
  'health',
  'project',
  'customer',
  'key',
  'user',
  'audit',
  'webhook',
  ...CLIENT_GROUPS,
  'payment',
  'wallet',
  'network',
  'mail',
  'backup',
  'restore',
  'move',
  'recover',
  'secret',
  'refund',
  'report',
  'sweep',
] as const;
export type CommandGroup = (typeof COMMAND_GROUPS)[number];

/** The program's name where there is no service. */
export const CLIENT = 'npx @cointill/sdk';

/** A command in a message. A name behind a slash is a path, which already says how to call the program. */
const COMMAND = commandOf(COMMAND_GROUPS);
const CLIENT_COMMAND = commandOf(CLIENT_GROUPS);

function commandOf(groups: readonly CommandGroup[]): RegExp {
  return new RegExp(`(?<![\\w./-])cointill(?= (?:${groups.join('|')})\\b)`, 'g');
}

/** Puts `program`, such as `./bin/cointill`, into the commands of a message, so that people can copy them. */
export function withProgram(message: string, program: string): string {
  // Some commands are written so already.
  const parts = message.split(program);
  const command = program === CLIENT ? CLIENT_COMMAND : COMMAND;
  return parts.map((part) => part.replace(command, () => program)).join(program);
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The program, from the repository's root. */
const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

/**
 * The name by which a reader of our messages can call the program: `cointill` if the PATH leads to it, otherwise the
 * path by which it was called (`bin/cointill` passes that path on as COINTILL_CALLED_AS). A path relative to `cwd`
 * becomes absolute where `npm --prefix` starts the program from another folder.
 */
export function calledAs(env: Environment, cwd: string): string {
  const called = env['COINTILL_CALLED_AS'] ?? '';
  if (called === '') return shellWord(PROGRAM);
  if (isTyped(called)) return called;
  const byNpx = npxCommand(called, env);
  if (byNpx !== null) return byNpx;
  const from = env['INIT_CWD'];
  if (!path.isAbsolute(called))
    return shellWord(from === undefined || from === cwd ? called : path.resolve(cwd, called));
  const name = path.basename(called);
  const folder = (env['PATH'] ?? '').split(path.delimiter).find((one) => existsSync(path.join(one, name)));
  return folder !== undefined && path.join(folder, name) === path.normalize(called) ? name : shellWord(called);
}

/** Whether it is what somebody types, a name or a command line such as `docker compose exec …`, and not a path. */
function isTyped(called: string): boolean {
  return called === CLIENT || !called.includes('/') || /\s[^\s/]+$/.test(called);
}

/**
 * The `npx …` that ran the program; null if it was called by its path. npm keeps what npx was asked for beside the
 * packages that it fetched: a name, a version or a file.
 */
function npxCommand(called: string, env: Environment): string | null {
  if (env['npm_command'] !== 'exec') return null;
  const [fetched] = /^.*\/_npx\/[^/]+(?=\/node_modules\/)/.exec(called) ?? [];
  const asked = fetched === undefined ? ['cointill'] : askedOfNpx(`${fetched}/package.json`);
  const [first = 'cointill'] = asked;
  if (asked.length === 1 && /^cointill(?:@|$)/.test(first)) return `npx ${shellWord(first)}`;
  return `npx ${asked.map((one) => `-p ${shellWord(one)}`).join(' ')} cointill`;
}

function askedOfNpx(file: string): readonly string[] {
  try {
    const { _npx: npx }: { readonly _npx?: { readonly packages?: unknown } } = JSON.parse(readFileSync(file, 'utf8'));
    const packages = npx?.packages;
    return Array.isArray(packages) && packages.every((one) => typeof one === 'string') ? packages : ['cointill'];
  } catch {
    return ['cointill'];
  }
}

/** The command that runs the program with the service's settings, as `deploy/systemd/cointill` does; null: none. */
export function wrapperName(env: Environment): string | null {
  const called = env['COINTILL_CALLED_AS'] ?? '';
  return called !== '' && isTyped(called) ? called : null;
}

/** Quotes a word for a shell where that is necessary. */
export function shellWord(text: string): string {
  return /^[\w./:@%,=+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The program's name in answers to clients, who must not learn where it is installed from an absolute path. */
export function publicName(program: string): string {
  if (program.startsWith('npx -p ')) return 'npx cointill';
  return /^'?\//.test(program) ? 'cointill' : program;
}
