import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it, onTestFinished, vi } from 'vitest';
import { WAIT } from '../deadline.ts';
import { freePort } from '../ports.ts';
import { startRedis } from '../redis.ts';
import { selfSigned } from '../../src/webhooks/local-receivers.fixture.ts';
import { createRateLimits } from '../../src/http/rate-limit.ts';
import { connectRedis } from '../../src/http/redis.ts';

const TRY_EVERY_MS = 50;

/** Connects, and collects what is logged about it. */
function watched(url: string) {
  const told: string[] = [];
  const watcher = { onAway: (problem: string) => void told.push(problem), onBack: () => void told.push('back') };
  const redis = connectRedis(url, watcher, TRY_EVERY_MS);
  onTestFinished(() => redis.close());
  return { ...redis, told };
}

async function realRedis() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  return redis;
}

it('a Redis that is away is logged once at its beginning and once at its end, however many requests there are', async () => {
  const server = await realRedis();
  const { client, problem, told } = watched(server.url);
  const limits = createRateLimits({ test: 9, live: 9, page: 9 }, client);
  await vi.waitFor(async () => expect(await server.keys()).toContain('cointill:health'), WAIT);
  expect([problem(), told]).toEqual([null, []]);
  await server.stop();
  await vi.waitFor(() => expect(problem()).not.toBeNull(), WAIT);
  for (let index = 0; index < 50; index += 1) await limits.consume('test', 'a');
  expect(told).toHaveLength(1);
  await vi.waitFor(() => expect(problem()).toContain('ECONNREFUSED'), WAIT);
  await server.start();
  await vi.waitFor(() => expect(problem()).toBeNull(), WAIT);
  expect(told).toEqual([expect.any(String), 'back']);
});

it('one that hangs counts as away while it does', async () => {
  const server = await realRedis();
  const { problem, told } = watched(server.url);
  await vi.waitFor(async () => expect(await server.keys()).toContain('cointill:health'), WAIT);
  server.freeze();
  await vi.waitFor(() => expect(problem()).not.toBeNull(), WAIT);
  server.thaw();
  await vi.waitFor(() => expect(told.at(-1)).toBe('back'), WAIT);
});

it('one that keeps its connections but takes no writes counts as away, and is logged with the way out', async () => {
  const server = await realRedis();
  const { client, problem } = watched(server.url);
  await vi.waitFor(async () => expect(await server.keys()).toContain('cointill:health'), WAIT);
  await client.replicaof('127.0.0.1', await freePort());
  await vi.waitFor(() => expect(problem()).toMatch(/READONLY.*REDIS_URL points to a replica/), WAIT);
  await client.replicaof('NO', 'ONE');
  await vi.waitFor(() => expect(problem()).toBeNull(), WAIT);
  await client.config('SET', 'requirepass', 'another');
  const { problem: locked } = watched(server.url);
  await vi.waitFor(() => expect(locked()).toMatch(/NOAUTH.*redis:\/\/:password@host:6379/), WAIT);
});

it('its end is no news when the service itself leaves it', async () => {
  const server = await realRedis();
  const { client, close, told } = watched(server.url);
  await vi.waitFor(() => expect(client.status).toBe('ready'), WAIT);
  close();
  await vi.waitFor(() => expect(client.status).toBe('end'), WAIT);
  await client.ping().catch(() => {});
  expect(told).toEqual([]);
});

it('TLS that the server lacks, missing TLS that it requires, and an unknown certificate are logged with the way out', async () => {
  const plain = await realRedis();
  const encrypted = await tlsRedis();
  const { problem: toPlain } = watched(plain.url.replace('redis:', 'rediss:'));
  const { problem: unencrypted } = watched(`redis://127.0.0.1:${encrypted}`);
  const { problem: unknown } = watched(`rediss://:s3cr3t@127.0.0.1:${encrypted}`);
  await vi.waitFor(() => {
    expect(toPlain()).toMatch(/REDIS_URL begins with rediss:\/\/.*use redis:\/\//);
    expect(unencrypted()).toMatch(/REDIS_URL must begin with rediss:\/\//);
    expect(unknown()).toMatch(/SELF_SIGNED.*REDIS_URL.*NODE_EXTRA_CA_CERTS/);
  }, WAIT);
  expect(unknown()).not.toContain('s3cr3t');
});

/** A Redis that speaks TLS alone, with a certificate that nobody knows; returns its port. */
async function tlsRedis(): Promise<number> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-redis-tls-'));
  const port = await freePort();
  const { cert, key } = selfSigned('localhost');
  await writeFile(path.join(folder, 'cert.pem'), cert);
  await writeFile(path.join(folder, 'key.pem'), key);
  const tls = ['--tls-port', String(port), '--tls-cert-file', 'cert.pem', '--tls-key-file', 'key.pem'];
  const open = ['--tls-auth-clients', 'no', '--tls-ca-cert-file', 'cert.pem', '--port', '0', '--bind', '127.0.0.1'];
  const child = spawn('redis-server', [...tls, ...open, '--save', ''], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await rm(folder, { recursive: true, force: true });
  });
  for await (const line of createInterface({ input: child.stdout })) if (line.includes('Ready to accept')) break;
  child.stdout.resume();
  return port;
}
