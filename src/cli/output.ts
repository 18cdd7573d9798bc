import { fstatSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { calledAs, withProgram } from '../config/called-as.ts';
import { fields } from '../wire/fields.ts';
import { clean } from '../service/plain-text.ts';

/** Options of every command that prints a record. */
export interface OutputOptions {
  readonly json?: boolean;
}

/** Gives a command `--json`. */
export function printsRecord(command: Command): Command {
  return command.addOption(new Option('--json', 'print one JSON document instead of text'));
}

/** Prints either one JSON document or readable lines to standard output, which carries nothing else. */
export function print(options: OutputOptions, record: object, readable: () => readonly string[]): void {
  if (options.json === true) process.stdout.write(`${JSON.stringify(record)}\n`);
  else writeLines(readable());
}

/** Writes lines of text to standard output. */
export function writeLines(lines: readonly string[]): void {
  process.stdout.write(textOf(lines));
}

/** Writes lines of text to standard error. */
export function writeErrorLines(lines: readonly string[]): void {
  process.stderr.write(textOf(lines));
}

/** One line each, including any repeated text, with commands that can be copied. */
function textOf(lines: readonly string[]): string {
  const program = calledAs(process.env, process.cwd());
  return lines.map((line) => `${withProgram(clean(line), program)}\n`).join('');
}

/** A table with aligned columns, or one line that says that there are no rows. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  whenEmpty: string,
): readonly string[] {
  if (rows.length === 0) return [whenEmpty];
  const lines = [columns, ...rows];
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => line[index]?.length ?? 0)));
  return lines.map((line) =>
    line
      .map((cell, index) => cell.padEnd(widths[index] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/**
 * Whether standard output is a file or systemd's journal, which keep every line. A terminal does not, and a pipe leads
 * to the program that started this one.
 */
export function isOutputKept(): boolean {
  const output = fstatSync(1);
  return output.isFile() || process.env['JOURNAL_STREAM'] === `${output.dev}:${output.ino}`;
}

/** A secret, with the warning that belongs below it. */
export function secretFields(label: string, secret: string, warning: string): readonly string[] {
  return ['', ...fields([[label, secret]]), `${' '.repeat(label.length + 2)}${warning}`];
}
