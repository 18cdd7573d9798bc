import type { FastifyInstance } from 'fastify';
import { notFound } from '../errors.ts';
import { pathOf } from '../path.ts';
import { sendFile } from '../served-file.ts';
import type { ShellAssets } from './shell-assets.ts';

const hidden = { hide: true } as const;

/**
 * The page, at `/dashboard` and every path below it except the API and assets; the browser decides what it shows.
 * Assets do not count toward the rate limit.
 */
export function shellRoutes(app: FastifyInstance, assets: ShellAssets): void {
  const counted = { config: { guard: { kind: 'dashboard', isCounted: true } }, schema: hidden } as const;
  const free = { config: { guard: { kind: 'dashboard', isCounted: false } }, schema: hidden } as const;
  app.get<{ Params: { name: string } }>('/dashboard/assets/:name', free, (request, reply) => {
    const file = assets.files.get(request.params.name);
    if (file === undefined) throw notFound('There is no such file. Load the page anew.');
    return sendFile(request, reply, file);
  });
  app.get('/dashboard', counted, (request, reply) => sendFile(request, reply, assets.document));
  app.get('/dashboard/*', counted, (request, reply) => {
    if (/^\/dashboard\/(?:api|assets)(?:\/|$)/.test(pathOf(request))) {
      throw notFound(`There is nothing at ${request.method} ${pathOf(request).slice(0, 200)}.`);
    }
    return sendFile(request, reply, assets.document);
  });
}
