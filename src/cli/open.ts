import { existsSync } from 'node:fs';
import path from 'node:path';
import { pino, type Logger } from 'pino';
import { readConfig, type Config } from '../config.ts';
import type { Cointill } from '../core.ts';
import { codeOf, CommandFailure, reasonOf } from './failure.ts';

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
  if (isNew) process.stderr.write(`Made a new database in ${config.dataDir} (set DATA_DIR to use another).\n`);
  try {
    return await work(cointill);
  } finally {
    await cointill.close();
  }
}

async function openDatabase(config: Config): Promise<Cointill> {
  // Loaded here and not above: help and mistakes in usage are told without it.
  const { createLogger, openCointill } = await import('../core.ts');
  const wantsLog = (process.env['LOG_LEVEL'] ?? '').trim() !== '';
  try {
    return await openCointill(config, wantsLog ? createLogger(config.logLevel) : warningsForPeople());
  } catch (error) {
    throw databaseFailure(error);
  }
}

const UNREACHABLE = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ETIMEDOUT', 'EHOSTUNREACH', 'ECONNRESET']);
/** Classes of PostgreSQL's error codes: broken connection, wrong login, no such database, out of resources, not ready. */
const REFUSED = /^(?:08|28|3D|53|57)[0-9A-Z]{3}$/;

/** An error of opening the database in plain words, where it is one of connecting; any other as it is. */
export function databaseFailure(error: unknown): unknown {
  const code = codeOf(error) ?? (error instanceof AggregateError ? codeOf(error.errors[0]) : undefined);
  if (code === undefined) return error;
  if (UNREACHABLE.has(code)) {
    const message = `The database cannot be reached (${reasonOf(error)}). Start it, or correct DATABASE_URL.`;
    return new CommandFailure(message, { cause: error });
  }
  if (REFUSED.test(code)) {
    const message = `The database refuses the connection (${reasonOf(error)}). Check DATABASE_URL.`;
    return new CommandFailure(message, { cause: error });
  }
  return error;
}

/** Warnings as plain lines on standard error, for commands that a person runs. */
function warningsForPeople(): Logger {
  return pino(
    { level: 'warn' },
    {
      write(line: string) {
        const entry: unknown = JSON.parse(line);
        const message = typeof entry === 'object' && entry !== null && 'msg' in entry ? entry.msg : undefined;
        if (typeof message === 'string') process.stderr.write(`Warning: ${message}\n`);
      },
    },
  );
}
