import { spawn, type ChildProcess } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { Type } from 'typebox';
import { Check } from 'typebox/value';
import type { BackupSchedule } from '../config/config.ts';
import { LAUNCHER } from '../config/installation.ts';

/** The outcome of a scheduled backup. */
export type BackupOutcome =
  | {
      readonly kind: 'good';
      readonly file: string | null;
      readonly bytes: number;
      readonly durationMs: number;
      readonly payments: number;
    }
  /** `problem`: the reason, in one line. */
  | { readonly kind: 'failed'; readonly problem: string };

/** Makes a backup; the signal aborts it. */
export type BackupRun = (signal: AbortSignal) => Promise<BackupOutcome>;

/** The output of `backup --json`. */
const Printed = Type.Object({
  file: Type.String(),
  bytes: Type.Integer(),
  duration_ms: Type.Integer(),
  rows: Type.Object({ payments: Type.Integer() }),
});

/** Runs the backup command in a process of its own, so that compression takes no time from requests. */
export function backupInOwnProcess({ folder, keep, passphraseFile }: BackupSchedule): BackupRun {
  const more = passphraseFile === null ? [] : ['--passphrase-file', passphraseFile];
  const args = [LAUNCHER, 'backup', `${folder}/`, '--keep', String(keep), '--json', ...more];
  return async (signal) => {
    // Detached, so that the terminal's Ctrl-C reaches the service alone, which then ends this process.
    const child: ChildProcess = spawn(process.execPath, [...process.execArgv, ...args], {
      env: { ...process.env, LOG_LEVEL: '' },
      stdio: ['ignore', 'pipe', 'pipe'],
      detached: true,
    });
    const end = (): void => void child.kill('SIGTERM');
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
    const ended = new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    const [printed, diagnostics] = [child.stdout, child.stderr].map((stream) => (stream === null ? '' : text(stream)));
    try {
      const code = await ended;
      if (code === 0) return goodOutcome(await (printed ?? ''));
      return { kind: 'failed', problem: asSettings(lastLine(await (diagnostics ?? ''))) || `it ended with ${code}` };
    } finally {
      signal.removeEventListener('abort', end);
    }
  };
}

/** Puts the operator's settings into a message in place of the command's options. */
export function asSettings(message: string): string {
  return message.replace(/^--passphrase-file:/, 'BACKUP_PASSPHRASE_FILE:').replace(', or leave out --keep.', '.');
}

function goodOutcome(printed: string): BackupOutcome {
  const record: unknown = JSON.parse(printed);
  if (!Check(Printed, record)) throw new Error(`The backup command printed an unknown record: ${printed}`);
  const { file, bytes, duration_ms: durationMs, rows } = record;
  return { kind: 'good', file, bytes, durationMs, payments: rows.payments };
}

function lastLine(output: string): string {
  return output.trim().split('\n').at(-1) ?? '';
}
