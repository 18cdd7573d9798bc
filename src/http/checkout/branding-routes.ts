import type { FastifyInstance } from 'fastify';
import type { Access } from '../../app/projects/access.ts';
import { findLogo } from '../../store/projects/projects.ts';
import type { Api } from '../api.ts';
import { accentCss } from './accent.ts';

type StoredLogo = NonNullable<Awaited<ReturnType<typeof findLogo>>>;

const asset = { config: { guard: { kind: 'open' } }, schema: { hide: true } } as const;
const IMMUTABLE = 'public, max-age=31536000, immutable';

/**
 * When opened directly, a shop's picture is a document of this service's origin: it must not load, run or submit
 * anything.
 */
const LOGO_HEADERS = {
  'cache-control': IMMUTABLE,
  'content-security-policy': "default-src 'none'; sandbox",
  'content-disposition': 'inline',
  'cross-origin-resource-policy': 'same-origin',
  'x-content-type-options': 'nosniff',
} as const;

/** 64 logos of at most 64 KiB are 4 MiB. */
const MAX_CACHED_LOGOS = 64;
/** A removed logo disappears from every process after this time. */
const LOGO_LIFETIME_MS = 60_000;

/** The path of the style sheet for a shop's colour; `hex` is six hex digits. */
export function accentPath(hex: string): string {
  return `/assets/accent.${hex}.css`;
}

/** The path of a logo, by the hash of its bytes. */
export function logoPath(hash: string): string {
  return `/assets/logo.${hash}`;
}

/** The two assets that differ between shops. Their URLs identify their content, so that browsers cache them forever. */
export function brandingRoutes({
  app: { db, clock },
  access,
}: Pick<Api, 'app'> & { readonly access: Pick<Access, 'hasLogo'> }): (app: FastifyInstance) => void {
  const logos = logoCache((hash) => findLogo(db, hash), clock);
  return (app) => {
    app.get<{ Params: { readonly hex: string } }>('/assets/accent.:hex.css', asset, (request, reply) => {
      const { hex } = request.params;
      if (!/^[0-9a-f]{6}$/i.test(hex)) return reply.callNotFound();
      return reply
        .header('content-type', 'text/css; charset=utf-8')
        .header('cache-control', IMMUTABLE)
        .send(accentCss(hex));
    });
    app.get<{ Params: { readonly hash: string } }>('/assets/logo.:hash', asset, async (request, reply) => {
      const { hash } = request.params;
      const isThere = /^[0-9a-f]{64}$/.test(hash) && (await access.hasLogo(hash));
      const logo = isThere ? await logos(hash) : null;
      if (logo === null) return reply.callNotFound();
      return reply.headers(LOGO_HEADERS).header('content-type', logo.type).send(logo.bytes);
    });
  };
}

/**
 * Caches the most recently read logos for a minute each. Unknown hashes are not cached, because they are easy to make
 * up.
 */
function logoCache(
  load: (hash: string) => Promise<StoredLogo | null>,
  clock: () => number,
): (hash: string) => Promise<StoredLogo | null> {
  const cached = new Map<string, { readonly readAt: number; readonly logo: StoredLogo }>();
  return async (hash) => {
    const known = cached.get(hash);
    if (known !== undefined && clock() - known.readAt < LOGO_LIFETIME_MS) return known.logo;
    const readAt = clock();
    const logo = await load(hash);
    cached.delete(hash);
    if (logo === null) return null;
    cached.set(hash, { readAt, logo });
    // A map keeps the order of insertion: its first key is the logo read longest ago.
    const [oldest = hash] = cached.keys();
    if (cached.size > MAX_CACHED_LOGOS) cached.delete(oldest);
    return logo;
  };
}
