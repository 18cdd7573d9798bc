import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { Redis } from 'ioredis';
import { freePort } from './ports.ts';

/** A real Redis server on a free loopback port. */
export interface TestRedis {
  readonly url: string;
  /** The names of all that it holds. */
  keys(): Promise<readonly string[]>;
  /** How many seconds each of them has left; -1 for good. */
  lifetimes(): Promise<readonly number[]>;
  /** It keeps its connections open and answers nothing. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
  /** Starts it anew, empty, at the same address. */
  start(): Promise<void>;
}

export async function startRedis(): Promise<TestRedis> {
  const port = await freePort();
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-redis-'));
  let child: ChildProcess | null = await spawnRedis(port, folder);
  const stop = async (): Promise<void> => {
    const running = child;
    child = null;
    if (running === null) return;
    const gone = once(running, 'exit');
    running.kill('SIGKILL');
    await gone;
    await rm(folder, { recursive: true, force: true });
  };
  const ask = async <Answer>(question: (client: Redis) => Promise<Answer>): Promise<Answer> => {
    const client = new Redis({ port, host: '127.0.0.1', lazyConnect: true, retryStrategy: () => null });
    try {
      await client.connect();
      return await question(client);
    } finally {
      client.disconnect();
    }
  };
  return {
    url: `redis://127.0.0.1:${port}`,
    keys: () => ask((client) => client.keys('*')),
    lifetimes: () => ask(async (client) => Promise.all((await client.keys('*')).map((name) => client.ttl(name)))),
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    stop,
    start: async () => {
      child = await spawnRedis(port, os.tmpdir());
    },
  };
}

async function spawnRedis(port: number, folder: string): Promise<ChildProcess> {
  const child = spawn(
    'redis-server',
    ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', folder],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  await once(child, 'spawn');
  for await (const line of createInterface({ input: child.stdout })) {
    if (line.includes('Ready to accept connections')) {
      child.stdout.resume();
      return child;
    }
  }
  throw new Error('redis-server ended before it was ready.');
}
