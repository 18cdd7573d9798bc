import { clean } from './plain-text.ts';

const LEVELS: Readonly<Record<number, string>> = {
  10: 'TRACE',
  20: 'DEBUG',
  30: 'INFO',
  40: 'WARN',
  50: 'ERROR',
  60: 'FATAL',
};
/** A longer list is shown as its length. */
const MAX_LISTED = 3;
const YELLOW = 33;
const RED = 31;
const WARN = 40;
const ERROR = 50;
/** Fields that the message contains, or that are only for machines. */
const UNSHOWN = new Set(['level', 'time', 'msg', 'kind', 'err', 'subject', 'problem']);

/**
 * Turns a JSON line of the log into text for a person: time of day in UTC, level, message, the fields that the message
 * does not contain, and below it the stack of an error.
 */
export function terminalLine(json: string, { isColoured }: { readonly isColoured: boolean }): string {
  const entry = parsed(json);
  if (entry === null) return `${clean(json.trimEnd())}\n`;
  const level = Number(entry['level']);
  const message = textOf(entry['msg'] ?? '');
  const fields = Object.entries(entry).flatMap(([name, value]) => {
    const text = Array.isArray(value) && value.length > MAX_LISTED ? String(value.length) : textOf(value);
    return UNSHOWN.has(name) || message.includes(text)
      ? []
      : [`${name}=${/\s/.test(text) ? JSON.stringify(text) : text}`];
  });
  const time = new Date(Number(entry['time'])).toISOString().slice(11, 19);
  const head = [time, coloured((LEVELS[level] ?? 'INFO').padEnd(5), level, isColoured), message, ...fields].join(' ');
  return [head, ...stackLines(entry['err'])].map((line) => `${line}\n`).join('');
}

function textOf(value: unknown): string {
  return clean(typeof value === 'string' ? value : JSON.stringify(value));
}

function parsed(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const entry: unknown = JSON.parse(json);
    return typeof entry === 'object' && entry !== null && 'time' in entry ? { ...entry } : null;
  } catch {
    return null;
  }
}

function coloured(text: string, level: number, isColoured: boolean): string {
  if (!isColoured || level < WARN) return text;
  return `\u001B[${level < ERROR ? YELLOW : RED}m${text}\u001B[39m`;
}

function stackLines(fault: unknown): readonly string[] {
  const stack: unknown = typeof fault === 'object' && fault !== null && 'stack' in fault ? fault.stack : null;
  return typeof stack === 'string' ? stack.split('\n').map((line) => `    ${clean(line.trim())}`) : [];
}
