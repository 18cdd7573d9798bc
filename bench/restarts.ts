import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Pool, type Dispatcher } from 'undici';
import { makeMerchant, ORDER } from './merchant.ts';
import type { Figure } from './report.ts';
import { freePort, startBenchService, stopProcess, untilReady, type BenchService } from './service.ts';

const RESTARTS = 20;
const CLIENTS = 16;
/** Until haproxy has seen twice that a process is back. */
const SEEN_AGAIN_MS = 3_000;

/** The settings of docs/guide/several-processes.md. */
const BALANCERS: Readonly<Record<string, Balancer>> = {
  haproxy: {
    args: (file) => ['haproxy', '-q', '-f', file],
    settings: (port, [one, other]) => `
defaults
  mode http
  timeout connect 2s
  timeout client 60s
  timeout server 60s
  timeout check 3s
  option httpchk GET /readyz
  default-server inter 1s fall 3
frontend shop
  bind 127.0.0.1:${port}
  default_backend cointill
backend cointill
  server one 127.0.0.1:${one} check
  server other 127.0.0.1:${other} check
`,
  },
  nginx: {
    args: (file) => ['nginx', '-p', path.dirname(file), '-e', 'stderr', '-c', file, '-g', 'daemon off;'],
    settings: (port, [one, other]) => `
pid nginx.pid;
error_log stderr crit;
worker_processes 1;
events {}
http {
  access_log off;
  upstream cointill {
    server 127.0.0.1:${one} max_fails=0;
    server 127.0.0.1:${other} max_fails=0;
  }
  server {
    listen 127.0.0.1:${port};
    proxy_set_header Host $http_host;
    location / {
      proxy_pass http://cointill;
    }
    location ~ ^/(v1/orders|api/transactions/create)$ {
      proxy_next_upstream error non_idempotent;
      proxy_pass http://cointill;
    }
  }
}
`,
  },
};

interface Balancer {
  readonly args: (file: string) => readonly [string, ...string[]];
  readonly settings: (port: number, servers: readonly [number, number]) => string;
}

/** The requests that fail while two API processes behind a load balancer are restarted in turn. */
export async function restarts(): Promise<readonly Figure[]> {
  const secret = { SECRET_KEY: randomBytes(32).toString('hex') };
  const worker = await startBenchService({ env: secret });
  try {
    const { headers } = await makeMerchant(worker);
    const figures: Figure[] = [];
    for (const [name, balancer] of Object.entries(BALANCERS)) {
      figures.push(await behind(name, balancer, headers, () => startApi(worker, secret)));
    }
    return figures;
  } finally {
    await worker.stop();
  }
}

interface Api {
  readonly port: number;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

async function startApi(worker: BenchService, secret: Readonly<Record<string, string>>): Promise<Api> {
  const [live, test] = [await freePort(), await freePort()];
  const env = {
    ...secret,
    ROLE: 'api',
    PORT: String(live),
    SANDBOX_PORT: String(test),
    DRAIN_SECONDS: '5',
  };
  const start = () => startBenchService({ env, beside: worker });
  let service = await start();
  return {
    port: test,
    restart: async () => {
      await service.stop();
      service = await start();
    },
    stop: () => service.stop(),
  };
}

async function behind(
  name: string,
  balancer: Balancer,
  headers: Readonly<Record<string, string>>,
  startOne: () => Promise<Api>,
): Promise<Figure> {
  const apis = [await startOne(), await startOne()] as const;
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-bench-'));
  // nginx gives up root's rights.
  await chmod(folder, 0o755);
  const port = await freePort();
  const file = path.join(folder, `${name}.conf`);
  await writeFile(file, balancer.settings(port, [apis[0].port, apis[1].port]));
  const [command, ...args] = balancer.args(file);
  const child = spawn(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
  await once(child, 'spawn');
  const url = `http://127.0.0.1:${port}`;
  const pool = new Pool(url, { connections: CLIENTS });
  try {
    await untilReady(`${url}/readyz`, child);
    let isOver = false;
    const counts = { asked: 0, failed: new Map<string, number>() };
    const ask = async (what: string, options: Dispatcher.RequestOptions): Promise<string> => {
      counts.asked += 1;
      const outcome = await pool.request(options).then(
        async ({ statusCode, body }) => ({ statusCode, text: await body.text() }),
        (error: unknown) => ({ statusCode: String(error), text: '' }),
      );
      if (outcome.statusCode === 200) return outcome.text;
      const failure = `${what}: ${outcome.statusCode}`;
      counts.failed.set(failure, (counts.failed.get(failure) ?? 0) + 1);
      return '';
    };
    const clients = Array.from({ length: CLIENTS }, async () => {
      while (!isOver) {
        const made = await ask('order', { path: '/v1/orders', method: 'POST', headers, body: ORDER });
        if (made === '') continue;
        const { id } = JSON.parse(made) as { readonly id: string };
        await ask('read', { path: `/v1/orders/${id}`, method: 'GET', headers });
        await ask('page', { path: `/pay/${id}`, method: 'GET' });
      }
    });
    for (let restart = 0; restart < RESTARTS; restart += 1) {
      await apis[restart % 2 === 0 ? 0 : 1].restart();
      await setTimeout(SEEN_AGAIN_MS);
      console.error(`  ${name}: restart ${restart + 1} of ${RESTARTS}, ${counts.asked} requests`);
    }
    isOver = true;
    await Promise.all(clients);
    const failed = [...counts.failed.values()].reduce((sum, count) => sum + count, 0);
    const which = [...counts.failed].map(([failure, count]) => `, ${count} × ${failure}`).join('');
    return {
      name: `requests that failed in ${RESTARTS} restarts of two API processes behind ${name}`,
      measured: `${failed} of ${counts.asked}${which}`,
      target: '0',
      holds: failed === 0,
    };
  } finally {
    await pool.destroy();
    await stopProcess(child);
    for (const api of apis) await api.stop();
    await rm(folder, { recursive: true, force: true });
  }
}
