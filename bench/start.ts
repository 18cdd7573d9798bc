import { rm } from 'node:fs/promises';
import { median } from './load.ts';
import type { Figure } from './report.ts';
import { freshDataDir, residentMiB, startBenchService } from './service.ts';

const ROUNDS = 5;
const PAUSE_MS = 3_000;

/** From the command to a ready answer on an existing database, and the memory of the Node.js process at rest. */
export async function start(): Promise<readonly Figure[]> {
  const dataDir = await freshDataDir();
  try {
    await (await startBenchService({ dataDir })).stop();
    const times: number[] = [];
    const sizes: number[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      const service = await startBenchService({ dataDir });
      times.push(service.readyAfterMs);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
      sizes.push(await residentMiB(service.pid));
      await service.stop();
    }
    const [ms, mib] = [median(times), median(sizes)];
    return [
      {
        name: 'start on an existing database to ready',
        measured: `${Math.round(ms)} ms`,
        target: '1500 ms',
        holds: ms <= 1500,
      },
      {
        name: 'memory of the Node.js process, idle',
        measured: `${Math.round(mib)} MiB`,
        target: '150 MiB',
        holds: mib <= 150,
      },
    ];
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}
