import { rm } from 'node:fs/promises';
import path from 'node:path';
import { Client } from 'pg';
import { startEmbeddedPostgres } from '../src/embedded/postgres.ts';
import { copyLives } from './backup.ts';
import { addWebhook, makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { freshDataDir, runCli, startBenchService, startScript, type BenchService } from './service.ts';

const PAYMENTS = Number(process.env['PAYMENTS'] ?? 1_000_000);
const LIMIT_SECONDS = 210;
const PROGRAM = path.join(import.meta.dirname, '../bin/cointill');

/** Moves of a million complete payments: from the embedded database to a server of one's own, and back. */
export async function move(): Promise<readonly Figure[]> {
  const folder = await freshDataDir();
  const dataDir = path.join(folder, 'first');
  const service = await startBenchService({ dataDir });
  const server = await startEmbeddedPostgres({ dataDir: path.join(folder, 'server'), log: () => {} });
  const { host, port, user, database } = server.connection;
  const url = `postgres://${user}@${encodeURIComponent(host)}:${port}/${database}`;
  try {
    await fill(service).finally(() => service.stop());
    const away = await moved({ DATA_DIR: dataDir }, '--to', url);
    const back = await moved({ DATA_DIR: dataDir, DATABASE_URL: url }, '--data-dir', path.join(folder, 'back'));
    return [figure('to a server of one’s own', away), figure('back into a folder', back)];
  } finally {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  }
}

async function fill(service: BenchService): Promise<void> {
  const receiver = await startScript('receiver.ts', { WANTED: '2' });
  const { projectId, headers } = await makeMerchant(service);
  await addWebhook(service, projectId, String(receiver.hello['url']));
  const made = await fetch(`${service.test}/v1/orders`, { method: 'POST', headers, body: ORDER });
  const { id } = (await made.json()) as { id: string };
  await service.cli('payment', 'complete', id);
  await receiver.next();
  await receiver.stop();
  const client = new Client(service.database);
  await client.connect();
  await copyLives(client, PAYMENTS);
  await client.end();
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
