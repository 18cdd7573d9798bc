import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtemp, rm, symlink } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { client, eventually, testService } from '../program.ts';
import { putReadyCluster } from '../ready-cluster.ts';

it('a service is not ready within a second of the first order that its full disk refused, and within five of room there', async (context) => {
  const disk = await mkdtemp(path.join(os.tmpdir(), 'cointill-disk-'));
  onTestFinished(() => rm(disk, { recursive: true, force: true }));
  try {
    system('mount', '-t', 'tmpfs', '-o', 'size=300m,mode=0755', 'none', disk);
  } catch {
    return context.skip('no file system may be mounted here');
  }
  onTestFinished(() => system('umount', '-l', disk));
  const service = await testService({}, 'bare');
  await putReadyCluster(disk);
  await symlink(path.join(disk, 'postgres'), path.join(service.cointill.dataDir, 'postgres'));
  const { first } = await service.start();
  const call = client(service.sandbox, String(first?.key));
  const order = async () => (await call('/v1/orders', { amount: 25, currency: 'USD', crypto_currency: 'BTC' })).status;
  const ready = async () => {
    const response = await fetch(`${service.live}/readyz`);
    return { code: response.status, ...Object(await response.json()) };
  };
  expect(await order()).toBe(200);
  expect(await ready()).toMatchObject({ code: 200, status: 'ready', checks: { disk: 'ok' } });

  const ballast = path.join(disk, 'ballast');
  expect(spawnSync('dd', ['if=/dev/zero', `of=${ballast}`, 'bs=1M']).status).toBe(1);
  // An order may still fit on the pages that are there already.
  await eventually('an order is refused', async () => ((await order()) === 503 ? true : null));
  const refusedAt = performance.now();
  const told = await eventually('it says so', async () => {
    const now = await ready();
    return now.code === 503 ? now : null;
  });
  const toldMs = performance.now() - refusedAt;
  expect(told).toMatchObject({
    status: 'not_ready',
    checks: { database: expect.stringMatching(/^refuses to save orders: .*No space left on device/) },
  });
  // The room is measured once a second, so the reading from before may still stand.
  await eventually('the room is measured', async () =>
    /"disk":"the disk of DATA_DIR has 0 MB left \(0 %\)"/.test(JSON.stringify(await ready())) ? true : null,
  );
  const scrape = await (await fetch(`${service.live}/metrics`)).text();
  expect(scrape).toContain('cointill_disk_free_bytes{folder="DATA_DIR"} 0');
  expect(scrape).toContain('cointill_check{name="database"} 0');

  await rm(ballast);
  const freedAt = performance.now();
  await eventually('it is ready again', async () => ((await ready()).status === 'ready' ? true : null));
  const backMs = performance.now() - freedAt;
  expect(await order()).toBe(200);
  expect(toldMs).toBeLessThan(1_000);
  expect(backMs).toBeLessThan(5_000);
});

/** A program of the system. */
function system(command: string, ...args: readonly string[]): void {
  execFileSync(command, args, { stdio: 'ignore' });
}
