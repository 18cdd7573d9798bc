import { lstatSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { pino, type Logger } from 'pino';
import { BackupError } from '../archive/format.ts';
import { type Actor, forActor } from '../app/context.ts';
import { readConfig, type Config } from '../config/config.ts';
import type { Cointill } from '../service/core.ts';
import { DatabaseConnectionError, EmptyDatabaseError } from '../store/backups/check-database.ts';
import { UnfitDatabaseError } from '../store/unfit-database.ts';
import { diskFull, EmbeddedPostgresError } from '../embedded/error.ts';
import { certificateFault } from '../config/tls.ts';
import { SealingKeyError } from '../webhooks/secret.ts';
import { codeOf, CommandFailure, reasonOf } from './failure.ts';
import { writeErrorLines } from './output.ts';

/**
 * Runs one command's work on the database, whether or not the service runs: the embedded server is joined, or started
 * and stopped again. Without `mayCreate` no database is created: somebody in the wrong folder must not read that there
 * is no payment.
 *
 * @throws ConfigError, EmbeddedPostgresError, MigrationError, or CommandFailure if the database cannot be reached
 */
export async function withCointill<Result>(
  work: (cointill: Cointill) => Promise<Result>,
  { mayCreate = false }: { readonly mayCreate?: boolean } = {},
): Promise<Result> {
  const config = readConfig(process.env, process.cwd());
  const isNew = config.databaseUrl === null && !hasDatabase(config.dataDir);
  if (isNew && !mayCreate && !(await isMadeMeanwhile(config.dataDir))) throw noDatabase(config);
  const cointill = await openDatabase(config, { mayCreate });
  // In the wrong folder a person would otherwise look for payments in an empty database.
  if (isNew && mayCreate)
    writeErrorLines([`Created a new database in ${config.dataDir} (to use another folder, set DATA_DIR).`]);
  try {
    return await work(cointill);
  } finally {
    await cointill.close();
  }
}

/** Whether the folder contains an embedded database, or cannot be read, which opening it explains. */
function hasDatabase(dataDir: string): boolean {
  try {
    return lstatSync(path.join(dataDir, 'postgres'), { throwIfNoEntry: false }) !== undefined;
  } catch (error) {
    return codeOf(error) !== 'ENOTDIR';
  }
}

const POLL_MS = 100;
/** The remains of a killed start may look like a start in progress, once another process has its process id. */
const MAKING_LIMIT_MS = 30_000;

/** Waits while a first start creates the database. Returns false if no start does, or if it failed. */
async function isMadeMeanwhile(dataDir: string): Promise<boolean> {
  const { isClusterInTheMaking } = await import('../embedded/cluster.ts');
  const until = performance.now() + MAKING_LIMIT_MS;
  while (performance.now() < until && (await isClusterInTheMaking(dataDir))) await setTimeout(POLL_MS);
  return hasDatabase(dataDir);
}

function noDatabase({ databaseUrl, dataDir }: Config): CommandFailure {
  const where = databaseUrl === null ? dataDir : 'the database that DATABASE_URL names';
  return new CommandFailure(
    `There is no Cointill data in ${where}. Set DATA_DIR or DATABASE_URL to the database that the service shows when it starts, ` +
      'or create a new database there with: cointill start',
  );
}

async function openDatabase(config: Config, { mayCreate }: { readonly mayCreate: boolean }): Promise<Cointill> {
  // Loaded here and not above: help and usage errors do not need it.
  const { openCointill } = await import('../service/core.ts');
  const log = await commandLog();
  try {
    const cointill = await openCointill(config, log, { mayCreate });
    return { ...cointill, app: forActor(cointill.app, operator()) };
  } catch (error) {
    throw error instanceof EmptyDatabaseError ? noDatabase(config) : databaseFailure(error, config);
  }
}

/** The person who runs the command, as the audit log names them. */
function operator(): Actor {
  return { kind: 'command', id: null, name: accountName(), ip: null };
}

function accountName(): string {
  try {
    return os.userInfo().username;
  } catch {
    // A container may run as a user number without a name.
    return `user ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** The log for faults that a command survives: text for a person, unless LOG_LEVEL asks for log lines. */
export async function commandLog(): Promise<Logger> {
  if ((process.env['LOG_LEVEL'] ?? '').trim() === '') return warningsForPeople();
  const { createLogger } = await import('../service/log.ts');
  return createLogger(readConfig(process.env, process.cwd()).logLevel);
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
/** Errors that pg reports only as text: a host that answers nothing, or ends the connection. */
const NO_ANSWER = /^(?:timeout expired|Connection terminated|timeout exceeded when trying to connect)/;
const DISK_FULL = '53100';
/** The primary became a replica after it was checked. */
const READ_ONLY = '25006';
/**
 * Classes of PostgreSQL's error codes: broken connection, wrong login, no such database, out of resources, not ready.
 */
const REFUSED = /^(?:08|28|3D|53|57)[0-9A-Z]{3}$/;

/**
 * A connection error or a full disk in plain words; any other error unchanged. `named` is the place where the database
 * was named, if not the setting.
 */
export function databaseFailure(error: unknown, config: Config, named = 'DATABASE_URL'): unknown {
  // These errors have a plain message, whatever the code of their cause.
  if (
    error instanceof EmbeddedPostgresError ||
    error instanceof SealingKeyError ||
    error instanceof UnfitDatabaseError ||
    error instanceof BackupError
  ) {
    return error;
  }
  const setting = error instanceof DatabaseConnectionError && error.setting !== 'DATABASE_URL' ? error.setting : named;
  const fault = error instanceof DatabaseConnectionError ? error.cause : error;
  const code = codeOf(fault) ?? (fault instanceof AggregateError ? codeOf(fault.errors[0]) : undefined) ?? '';
  const message = explain(code, reasonOf(fault), setting, config);
  return message === null ? fault : new CommandFailure(message, { cause: fault });
}

function explain(code: string, reason: string, setting: string, { databaseUrl, dataDir }: Config): string | null {
  const isEmbedded = databaseUrl === null;
  if (code === DISK_FULL) {
    return isEmbedded
      ? diskFull(dataDir, null).message
      : `The disk of the database that ${setting} names is full (${reason}). Free some space there.`;
  }
  if (isEmbedded) {
    const log = path.join(dataDir, 'postgres.log');
    return UNREACHABLE.has(code) || REFUSED.test(code)
      ? `The connection to the embedded database was lost (${reason}). Look for the cause in ${log}, then start again.`
      : null;
  }
  if (code === READ_ONLY) return `${setting} leads to a read-only database (${reason}).`;
  if (UNREACHABLE.has(code) || NO_ANSWER.test(reason))
    return `The database cannot be reached (${reason}). Start the database, or correct ${setting}.`;
  if (!REFUSED.test(code)) return tlsFailure(code, reason, setting);
  const tlsAlone = /no encryption|SSL off/.test(reason) ? ' If the server accepts only TLS, add sslmode=require.' : '';
  return `The database refuses the connection (${reason}). Check ${setting}.${tlsAlone}`;
}

/** Errors that pg reports only as text. */
const NO_TLS = /^The server does not support SSL connections/;
const BAD_TLS = /^There was an error establishing an SSL connection/;

/** The TLS problem of the connection to the database; null if the error is another one. */
function tlsFailure(code: string, reason: string, setting: string): string | null {
  if (NO_TLS.test(reason)) {
    return `${setting} requires TLS (by sslmode in the URL, or by PGSSLMODE), but the server does not offer TLS. Turn TLS on at the server (ssl = on), or set sslmode=disable if nobody can read the traffic.`;
  }
  switch (certificateFault(code)) {
    case 'authority':
      return `The certificate of the server that ${setting} names is from an unknown authority (${reason}). Add the certificate of this authority with sslrootcert=/path/to/ca.pem. With sslmode=no-verify, the connection would be encrypted, but the server would not be checked.`;
    case 'host':
      return `The certificate of the server that ${setting} names is for another host (${reason}). Use the host name of the certificate in ${setting}.`;
    case 'time':
      return `The certificate of the server that ${setting} names is not valid now (${reason}). Renew the certificate, or correct this machine's clock.`;
    case null:
      return BAD_TLS.test(reason) || /^ERR_SSL_|^EPROTO$/.test(code)
        ? `TLS with the server that ${setting} names failed (${reason}). Check sslmode, sslcert and sslkey in ${setting}.`
        : null;
  }
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
