import { rm } from 'node:fs/promises';
import path from 'node:path';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import { fillWithLives } from './backup.ts';
import type { Figure } from './report.ts';
import { freshDataDir, runCli, startBenchService, startScript } from './service.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 1_000_000);
const LIMIT_SECONDS = 210;
const PROGRAM = path.join(import.meta.dirname, '../bin/cointill');

/** Moves of a million complete payments: from the embedded database to a server of one's own, and back. */
export async function move(): Promise<readonly Figure[]> {
  const folder = await freshDataDir();
  const dataDir = path.join(folder, 'first');
  const receiver = await startScript('receiver.ts', { WANTED: '2' });
  const service = await startBenchService({ dataDir });
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'server'), log: () => {} });
  const { host, port, user, database } = server.connection;
  const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
  try {
    await fillWithLives(service, receiver, PAYMENTS);
    await service.stop();
    const away = await moved({ DATA_DIR: dataDir }, '--to', url);
    const back = await moved({ DATA_DIR: dataDir, DATABASE_URL: url }, '--data-dir', path.join(folder, 'back'));
    return [figure('to a server of one’s own', away), figure('back into a folder', back)];
  } finally {
    await service.stop();
    await receiver.stop();
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

interface Moved {
  readonly seconds: number;
  readonly payments: number;
  readonly megabytes: number;
}

async function moved(settings: NodeJS.ProcessEnv, ...to: readonly string[]): Promise<Moved> {
  const startedAt = performance.now();
  const { payments, bytes } = await runCli(PROGRAM, ['move', ...to], { ...process.env, ...settings });
  const seconds = (performance.now() - startedAt) / 1000;
  return { seconds, payments: Number(payments), megabytes: Number(bytes) / 1_000_000 };
}

function figure(where: string, { seconds, payments, megabytes }: Moved): Figure {
  return {
    name: `move of ${payments} payments ${where}`,
    measured: `${seconds.toFixed(1)} s, ${megabytes.toFixed(0)} MB compared`,
    target: `${LIMIT_SECONDS} s`,
    holds: seconds <= LIMIT_SECONDS && payments > PAYMENTS,
  };
}
