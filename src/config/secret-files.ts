import { readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { NETWORKS, settingOf } from '../domain/networks.ts';

/** The settings that may hold a secret. Each is also read from the file that `NAME_FILE` names. */
const SECRETS: ReadonlySet<string> = new Set([
  'DATABASE_URL',
  'DATABASE_DIRECT_URL',
  'DATABASE_READ_URL',
  'REDIS_URL',
  'SECRET_KEY',
  'SECRET_KEY_PREVIOUS',
  'SMTP_URL',
  'METRICS_TOKEN',
  ...NETWORKS.map((network) => settingOf(network, 'RPC_URL')),
]);

/** The setting that names the file of a secret; null: the setting holds no secret. */
export function fileSettingOf(name: string): string | null {
  return SECRETS.has(name) ? `${name}_FILE` : null;
}

/** A secret that was read from a file, or the fault of the file: one line that does not repeat the content. */
export type ReadSecret =
  | { readonly kind: 'read'; readonly file: string; readonly value: string }
  | { readonly kind: 'fault'; readonly problem: string };

const LAST_LINE_END = /(?:\r\n|\n|\r)$/;
const LINE_END = /[\n\r]/;

/**
 * Reads the secret `name` from the file at `given`, a path relative to `cwd`. The last line end does not belong to the
 * value, and neither do blanks around it, as in every setting: a key is the same key in a file and in a variable.
 */
export function readSecretFile(name: string, given: string, cwd: string): ReadSecret {
  const setting = `${name}_FILE`;
  const file = path.resolve(cwd, given);
  const fault = (problem: string): ReadSecret => ({ kind: 'fault', problem: `${setting}: ${problem}` });
  let bytes: Buffer;
  try {
    const found = statSync(file);
    if (found.isDirectory()) {
      return fault(`${file} is a folder. Give the path of a file that contains only the value of ${name}.`);
    }
    // A command and a backup read the file again, which a pipe does not allow.
    if (!found.isFile()) return fault(`${file} is a pipe or a device. Give the path of a regular file.`);
    bytes = readFileSync(file);
  } catch (error) {
    return fault(unreadable(error, given, file, cwd));
  }
  const text = textOf(bytes);
  // Random bytes, or the UTF-16 of some Windows programs, would be read as another value than the one that was meant.
  if (text === null) return fault(`${file} is not text in UTF-8. Write the value of ${name} into it as text.`);
  const line = text.replace(LAST_LINE_END, '');
  if (line.trim() === '') return fault(`${file} is empty. Write the value of ${name} into it.`);
  if (LINE_END.test(line)) {
    return fault(`${file} has more than one line. It must contain only the value of ${name}, on one line.`);
  }
  return { kind: 'read', file, value: line.trim() };
}

function textOf(bytes: Buffer): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

/**
 * Why a file cannot be read, and the way out. A relative path that leads nowhere is not repeated: it may be the secret
 * itself, which somebody put where its path belongs.
 */
function unreadable(error: unknown, given: string, file: string, cwd: string): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  const shown = path.isAbsolute(given) ? file : null;
  if (code === 'EACCES' || code === 'EPERM') {
    const user = process.getuid === undefined ? 'this user' : `this user (${process.getuid()})`;
    return `${user} may not read ${shown ?? `the file, below ${cwd}`}. Let this user read the file and enter its folder.`;
  }
  if (code === 'ENOENT' || code === 'ENOTDIR') {
    return `there is no file ${shown ?? `of this name below ${cwd}`}. Give the path of the file, not the value itself.`;
  }
  return `${shown ?? 'the file'} cannot be read (${code}). Give the path of a file that this user may read.`;
}

/**
 * A message with the file of each setting that it names and that was read from a file, so that a way out such as
 * "correct DATABASE_URL" leads to the right place.
 */
export function namingFiles(message: string, env: Readonly<Record<string, string | undefined>>): string {
  const named = new Set(message.match(/\b[A-Z][A-Z_]+\b/g));
  const notes = [...SECRETS].flatMap((name) => {
    const file = env[`${name}_FILE`]?.trim() ?? '';
    const isRead = named.has(name) && !named.has(`${name}_FILE`) && file !== '' && (env[name] ?? '').trim() === '';
    return isRead ? [`The value of ${name} comes from ${name}_FILE.`] : [];
  });
  return [message, ...notes].join(' ');
}
