import type { AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Shop } from '../http.ts';
import { Cointill, type Options } from '../../packages/sdk/src/index.ts';

/** Lets a server of the test listen on a free port. Returns its address. */
export async function listenOn(server: FastifyInstance): Promise<string> {
  if (!server.server.listening) await server.listen({ host: '127.0.0.1', port: 0 });
  return `http://127.0.0.1:${(server.server.address() as AddressInfo).port}`;
}

/** A client with a full secret test key of the shop. */
export async function clientOf(shop: Shop, url: string, options: Partial<Options> = {}): Promise<Cointill> {
  return new Cointill({ key: await shop.key(), url, ...options });
}
