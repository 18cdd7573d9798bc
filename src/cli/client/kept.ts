import { createHash, randomBytes } from 'node:crypto';
import { closeSync, mkdirSync, openSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Mode } from '../../domain/permission.ts';
import { codeOf, CommandFailure, reasonOf } from '../failure.ts';

/** The log that a key reads. */
interface Log {
  readonly url: string;
  readonly project: string;
  readonly mode: Mode;
}

/** The place up to which a log was forwarded from this machine. */
export interface KeptPosition {
  readonly file: string;
  /** Null before the first event. */
  readonly position: string | null;
  save(position: string): void;
  close(): void;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** SQLite: another process holds the file. */
const BUSY = 5;
const SECRET_BYTES = 32;
const SECRET = /^whsec_[A-Za-z0-9+/]{4,}=*$/;

/**
 * Opens the position of a log, which only one process can have open: SQLite's lock ends with its process, and a write
 * that was interrupted leaves the value before it.
 */
export function openPosition(log: Log, env: Environment): KeptPosition {
  const file = fileOf(log, 'db', env);
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    closeSync(openSync(file, 'a', 0o600));
    db = new DatabaseSync(file);
    db.exec(`pragma locking_mode = exclusive; pragma journal_mode = wal; pragma synchronous = normal;
      create table if not exists log (id integer primary key check (id = 1), position text);
      insert into log (id) values (1) on conflict (id) do nothing`);
    const position = db.prepare('select position from log').get()?.['position'];
    const saving = db.prepare('update log set position = ?');
    const opened = db;
    return {
      file,
      position: typeof position === 'string' ? position : null,
      save: (next) => void saving.run(next),
      close: () => opened.close(),
    };
  } catch (error) {
    if (db?.isOpen === true) db.close();
    if (error instanceof Error && 'errcode' in error && error.errcode === BUSY) {
      throw new CommandFailure(
        'Another cointill listen on this machine forwards the events of this project. Stop it first, or watch the events with: cointill events tail',
        { cause: error },
      );
    }
    throw cannotKeep(file, error);
  }
}

/** The secret that signs what is forwarded from this machine: the given one, else the one kept, else a new one. */
export function keptSecret(log: Log, given: string | undefined, env: Environment): string {
  const file = fileOf(log, 'secret', env);
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    if (given === undefined) {
      const kept = readFileSync(file, 'utf8').trim();
      if (SECRET.test(kept)) return kept;
      throw new Error('it holds no secret');
    }
    // A crash leaves the whole secret of before or after.
    writeFileSync(`${file}.new`, `${given}\n`, { mode: 0o600 });
    renameSync(`${file}.new`, file);
    return given;
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw cannotKeep(file, error);
    return keptSecret(log, `whsec_${randomBytes(SECRET_BYTES).toString('base64')}`, env);
  }
}

function cannotKeep(file: string, error: unknown): CommandFailure {
  return new CommandFailure(
    `${file} cannot be used (${reasonOf(error)}). Repair or delete the file, or set XDG_STATE_HOME to a folder that you may write.`,
    { cause: error },
  );
}

/** One name for each log: the host for people, and a hash of everything. */
function fileOf({ url, project, mode }: Log, extension: string, env: Environment): string {
  const given = env['XDG_STATE_HOME'] ?? '';
  const folder = path.join(path.isAbsolute(given) ? given : path.join(os.homedir(), '.local', 'state'), 'cointill');
  const hash = createHash('sha256').update(`${url}\n${project}\n${mode}`).digest('hex').slice(0, 12);
  const host = new URL(url).host.replaceAll(/[^\w.-]/g, '_');
  return path.join(folder, `listen-${host}-${mode}-${hash}.${extension}`);
}
