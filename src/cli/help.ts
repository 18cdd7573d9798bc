import type { Command } from 'commander';
import { nearestName } from '../domain/nearest-name.ts';
import { clean } from '../service/plain-text.ts';

/** Examples by the words of their command. */
type Examples = Readonly<Record<string, readonly string[]>>;

/** A line that commander adds: our command names similar to the typed one. */
const UNKNOWN_COMMAND = /^Unknown command '([^']*)'$/;
const SUGGESTION = /\n\(Did you mean [a-z, -]+\?\)$/;

/** Adds examples to the end of the help of a command and its subcommands. */
export function addExamples(command: Command, program: string, above: string, all: Examples): void {
  const path = `${above}${command.name()}`;
  const examples = all[path] ?? [];
  if (examples.length > 0) {
    const lines = examples.map((example) => `\n  $ ${program} ${example}`);
    command.addHelpText('after', `\n${lines.length === 1 ? 'Example' : 'Examples'}:${lines.join('')}`);
  }
  for (const below of command.commands) addExamples(below, program, `${path} `, all);
}

/** The error on one line, including any typed text, with commander's suggestion, or ours if that is nearer. */
export function cleanUsageError(text: string, all: Examples): string {
  const message = text.replace(/\n$/, '').replace(/^error: (.)/, upperCaseFirst);
  const given = SUGGESTION.exec(message)?.[0] ?? '';
  const line = clean(message.slice(0, message.length - given.length));
  return `${line}${suggested(line, all, given)}\n`;
}

/**
 * Suggestions for a command typed without its group, such as `listen`, or with a typing error: the commands of that
 * name in all groups.
 */
function suggested(message: string, all: Examples, given: string): string {
  const unknown = UNKNOWN_COMMAND.exec(message)?.[1];
  if (unknown === undefined) return given;
  // Commander finds `secret` similar to `creat`, as it knows no command of another group.
  const nearest = nearestName(new Set(Object.keys(all).flatMap((path) => path.split(' '))), unknown);
  if (given !== '' && (nearest === null || given.includes(nearest))) return given;
  const paths = Object.keys(all).filter((path) => path.includes(' '));
  const lastWord = (path: string): string => path.slice(path.indexOf(' ') + 1);
  const meant = nearestName(new Set(paths.map(lastWord)), unknown);
  const found = paths.filter((path) => lastWord(path) === meant);
  return found.length === 0 ? '' : `\n(Did you mean ${found.join(', ')}?)`;
}

function upperCaseFirst(_whole: string, first: string): string {
  return first.toUpperCase();
}
