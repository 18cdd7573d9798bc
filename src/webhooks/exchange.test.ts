import { once } from 'node:events';
import net from 'node:net';
import { performance } from 'node:perf_hooks';
import { Agent } from 'undici';
import { expect, it } from 'vitest';
import { exchange } from './exchange.ts';
import { receive } from './local-receivers.fixture.ts';

it('a delivery that ran out of time while connecting is not sent when the connection comes after all', async () => {
  const shop = await receive((response) => response.end());
  const asked = Promise.withResolvers<(error: null, socket: net.Socket) => void>();
  const agent = new Agent({ connect: (_target, callback) => asked.resolve(callback) });
  const result = await exchange(
    { origin: `http://127.0.0.1:${shop.port}`, path: '/', method: 'POST', body: '{}' },
    { reusing: agent, single: agent, isHandingOver: () => true },
    { now: () => performance.now(), timeoutMs: 20, responseLimitBytes: 100 },
  );
  expect(result).toMatchObject({ kind: 'error', stage: 'timeout' });

  const socket = net.connect(shop.port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = new Promise((resolve) => socket.once('close', resolve));
  (await asked.promise)(null, socket);
  await closed;
  await shop.allClosed();
  expect(shop.requests).toHaveLength(0);
  await agent.close();
  await shop.close();
});
