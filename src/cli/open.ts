import { existsSync } from 'node:fs';
import path from 'node:path';
import { pino, type Logger } from 'pino';
import { BackupError } from '../backup/errors.ts';
import { readConfig, type Config } from '../config.ts';
import type { Cointill } from '../core.ts';
import { UnfitDatabaseError } from '../store/check-database.ts';
import { diskFull, EmbeddedPostgresError } from '../store/embedded-error.ts';
import { SealingKeyError } from '../webhooks/secret.ts';
import { codeOf, CommandFailure, reasonOf } from './failure.ts';
import { writeErrorLines } from './output.ts';

/**
 * Does one command's work on the database, whether the service runs or not: the embedded server is joined, or started and
 * left again.
 *
 * @throws ConfigError, EmbeddedPostgresError, MigrationError, or CommandFailure when the database cannot be reached
 */
export async function withCointill<Result>(work: (cointill: Cointill) => Promise<Result>): Promise<Result> {
  const config = readConfig(process.env, process.cwd());
  const isNew = config.databaseUrl === null && !existsSync(path.join(config.dataDir, 'postgres'));
  const cointill = await openDatabase(config);
  // Somebody in the wrong folder would otherwise look for his payments in an empty database.
  if (isNew) writeErrorLines([`Made a new database in ${config.dataDir} (set DATA_DIR to use another).`]);
  try {
    return await work(cointill);
  } finally {
    await cointill.close();
  }
}

async function openDatabase(config: Config): Promise<Cointill> {
  // Loaded here and not above: help and mistakes in usage are told without it.
  const { createLogger, openCointill } = await import('../core.ts');
  try {
    return await openCointill(config, wantsLog() ? createLogger(config.logLevel) : warningsForPeople());
  } catch (error) {
    throw databaseFailure(error, config);
  }
}

function wantsLog(): boolean {
  return (process.env['LOG_LEVEL'] ?? '').trim() !== '';
}

/** Where a command that does not open the database as the others do reports trouble that it survives. */
export function commandLog(): Logger {
  return wantsLog()
    ? pino({ level: (process.env['LOG_LEVEL'] ?? '').trim() }, pino.destination(2))
    : warningsForPeople();
}

const UNREACHABLE = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
const DISK_FULL = '53100';
/** The primary became a replica after it was looked at. */
const READ_ONLY = '25006';
/** Classes of PostgreSQL's error codes: broken connection, wrong login, no such database, out of resources, not ready. */
const REFUSED = /^(?:08|28|3D|53|57)[0-9A-Z]{3}$/;

/** An error of opening the database in plain words, where it is one of connecting or of a full disk; any other as it is. */
export function databaseFailure(error: unknown, config: Config): unknown {
  // Those say it plainly themselves, whatever code is in what caused them.
  if (
    error instanceof EmbeddedPostgresError ||
    error instanceof SealingKeyError ||
    error instanceof UnfitDatabaseError ||
    error instanceof BackupError
  ) {
    return error;
  }
  const code = codeOf(error) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined);
  const message = code === undefined ? null : explain(code, reasonOf(error), config);
  return message === null ? error : new CommandFailure(message, { cause: error });
}

function explain(code: string, reason: string, { databaseUrl, dataDir }: Config): string | null {
  const isEmbedded = databaseUrl === null;
  if (code === DISK_FULL) {
    return isEmbedded
      ? diskFull(dataDir, null).message
      : `The disk of the database that DATABASE_URL names is full (${reason}). Free some space there.`;
  }
  if (isEmbedded && (UNREACHABLE.has(code) || REFUSED.test(code))) {
    const log = path.join(dataDir, 'postgres.log');
    return `The embedded database was lost (${reason}). Look into ${log}, and start again.`;
  }
  if (!isEmbedded && code === READ_ONLY) return `DATABASE_URL leads to a database that takes no writes (${reason}).`;
  if (UNREACHABLE.has(code)) return `The database cannot be reached (${reason}). Start it, or correct DATABASE_URL.`;
  if (REFUSED.test(code)) return `The database refuses the connection (${reason}). Check DATABASE_URL.`;
  return null;
}

/** Warnings as plain lines on standard error, for commands that a person runs. */
function warningsForPeople(): Logger {
  return pino(
    { level: 'warn' },
    {
      write(line: string) {
        const entry: unknown = JSON.parse(line);
        const message = typeof entry === 'object' && entry !== null && 'msg' in entry ? entry.msg : undefined;
        if (typeof message === 'string') writeErrorLines([`Warning: ${message}`]);
      },
    },
  );
}
