import { readdir, readFile } from 'node:fs/promises';
import { load } from './load.ts';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { startBenchService, type BenchService } from './service.ts';

const LOAD_SECONDS = 60;
const REST_MS = 30_000;
const MAX_GROWTH_MIB = 120;

/**
 * The memory that a minute of full load leaves behind: the processes of the service and its database before the load,
 * and half a minute after it. Shared memory counts in parts for each process that has it. The shared buffers of the
 * database, which are allocated once and fill up, do not count.
 */
export async function memory(): Promise<readonly Figure[]> {
  const service = await startBenchService({ env: { SANDBOX_COMPLETE_AFTER_SECONDS: '86400' } });
  try {
    const { headers } = await makeMerchant(service);
    const url = `${service.test}/v1/orders`;
    await load({ url, method: 'POST', headers, body: ORDER, seconds: 1, connections: 1 });
    await rest();
    const idle = await privateMiB(service);
    await load({ url, method: 'POST', headers, body: ORDER, seconds: LOAD_SECONDS });
    await rest();
    const after = await privateMiB(service);
    return [
      {
        name: `memory ${REST_MS / 1000} s after ${LOAD_SECONDS} s of creating orders, all processes`,
        measured: `${Math.round(after)} MiB, before it ${Math.round(idle)} MiB`,
        target: `at most ${MAX_GROWTH_MIB} MiB more`,
        holds: after - idle <= MAX_GROWTH_MIB,
      },
    ];
  } finally {
    await service.stop();
  }
}

function rest(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, REST_MS));
}

/** The memory of the service, its database server and all their child processes, in MiB. */
async function privateMiB(service: BenchService): Promise<number> {
  const [server] = (await readFile(`${service.dataDir}/postgres/postmaster.pid`, 'utf8')).split('\n');
  const parents = await parentsOfAll();
  const isOurs = (pid: number): boolean => {
    for (let at: number | undefined = pid; at !== undefined; at = parents.get(at)) {
      if (at === service.pid || at === Number(server)) return true;
    }
    return false;
  };
  const sizes = await Promise.all([...parents.keys()].filter(isOurs).map(privateKiB));
  return sizes.reduce((sum, size) => sum + size, 0) / 1024;
}

async function parentsOfAll(): Promise<ReadonlyMap<number, number>> {
  const parents = new Map<number, number>();
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    const status = await readFile(`/proc/${name}/status`, 'utf8').catch(() => '');
    const parent = /^PPid:\s+(\d+)$/m.exec(status)?.[1];
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  return parents;
}

/** The memory of a process; 0 if it has ended meanwhile. */
async function privateKiB(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8').catch(() => '');
  const kiB = (name: string): number => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, 'm').exec(rollup)?.[1] ?? 0);
  return kiB('Pss') - kiB('Pss_Shmem');
}
