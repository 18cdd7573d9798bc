import { readFileSync } from 'node:fs';
import { parseEnvFile } from '../config/env-file.ts';

/**
 * An open file that is passed on, for example by `3< FILE`: the user who opened it may read files that this user may
 * not.
 */
const DESCRIPTOR = /^\/dev\/fd\/(\d+)$/;
/** Node.js reads these before it runs any of our code; `NODE_ENV` is ours. */
const READ_AT_START = /^(?:NODE_(?!ENV$|POLL_MS$)|UV_|SSL_CERT_|LD_|TZ$)/;

/**
 * Takes `--settings FILE` from the arguments of the process and puts the settings of that file into its environment,
 * where they replace existing ones, as in systemd. If Node.js itself reads one of them, it starts again.
 */
export function takeSettingsFile(): void {
  const [, , , file] = process.argv;
  if (file === undefined || file.startsWith('-')) return fail('--settings needs the path of a settings file.');
  let text: string;
  try {
    const descriptor = DESCRIPTOR.exec(file)?.[1];
    text = readFileSync(descriptor === undefined ? file : Number(descriptor), 'utf8');
  } catch (error) {
    const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return fail(`--settings: ${file} cannot be read (${reason}). Give the path of a file that this user may read.`);
  }
  const { settings, refused, openQuote } = parseEnvFile(text);
  if (openQuote !== null) {
    const { name, line } = openQuote;
    return fail(
      `--settings: ${file}, line ${line}: the value of ${name} has a quote that is not closed. Close the quote on the same line, because a value cannot contain a line break.`,
    );
  }
  for (const name of refused) {
    process.stderr.write(
      `Warning: --settings: ${JSON.stringify(name)} is not the name of a setting. Write NAME=value.\n`,
    );
  }
  process.argv.splice(2, 2);
  const isNew = Object.entries(settings).some(
    ([name, value]) => READ_AT_START.test(name) && process.env[name] !== value,
  );
  Object.assign(process.env, settings);
  if (!isNew) return;
  process.execve?.(process.execPath, [process.execPath, ...process.execArgv, ...process.argv.slice(1)], process.env);
}

function fail(message: string): never {
  process.stderr.write(`${message}\n`);
  process.exit(2);
}
