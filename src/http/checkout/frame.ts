import type { FastifyRequest, FastifyReply, FastifyInstance } from 'fastify';
import type { Access } from '../../app/projects/access.ts';
import { type Project, findLogo } from '../../store/projects/projects.ts';
import { chooseLanguage, type Locale } from './language/locale.ts';
import type { Frame, Branding, Page } from './view.ts';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import { negotiateEncoding } from '../served-file.ts';
import { givenHeaders } from '../event-stream.ts';
import { pageHeaders } from './layout.ts';
import type { Api } from '../api.ts';
import { accentCss } from './accent.ts';

/** A request for one of the pages. */
export interface PageRequest {
  readonly Params: { readonly id: string };
  readonly Querystring: Readonly<Record<string, unknown>>;
  readonly Body: Readonly<Record<string, unknown>> | undefined;
}

/** The visitor's language: the one in the address bar, or else the shop's for this page, or else the browser's. */
export function localeOf(
  request: Pick<FastifyRequest<PageRequest>, 'query' | 'headers'>,
  ofShop: string | null = null,
): Locale {
  return chooseLanguage(request.query['lang'], request.headers['accept-language'], ofShop);
}

/** How this visitor sees a page of this project, and which origins may frame it; `language` is that of `localeOf`. */
export async function frameOf(
  access: Pick<Access, 'project'>,
  request: Pick<FastifyRequest<PageRequest>, 'query' | 'headers'>,
  projectId: string,
  language: string | null = null,
): Promise<{ readonly frame: Frame; readonly framedBy: readonly string[] }> {
  const project = await access.project(projectId);
  const { query } = request;
  const framedBy = project?.allowOrigins ?? [];
  const embed = framedBy.find((origin) => origin === query['embed']) ?? null;
  const frame: Frame = {
    locale: localeOf(request, language),
    languageGiven: typeof query['lang'] === 'string',
    branding: brandingOf(project),
    embed,
    autoRefresh: query['refresh'] !== 'off',
    watching: query['watching'] === '1',
  };
  return { frame, framedBy };
}

function brandingOf(project: Project | null): Branding {
  const { name = '', logo = null, icon = null, accent = null, supportUrl = null } = project ?? {};
  const { pageText = null, termsUrl = null, imprintUrl = null } = project ?? {};
  const tabIcon = iconOf(icon, logo);
  return {
    projectName: name,
    logo: logo && { path: logoPath(logo.hash), width: logo.width, height: logo.height },
    accentPath: accent && accentPath(accent),
    supportUrl,
    iconPath: tabIcon && logoPath(tabIcon.hash),
    pageText,
    termsUrl,
    imprintUrl,
  };
}

/** The picture of the browser's tab: the shop's icon, or else its logo if that is square. Null if there is neither. */
export function iconOf<Picture extends { readonly width: number; readonly height: number }>(
  icon: Picture | null,
  logo: Picture | null,
): Picture | null {
  return icon ?? (logo?.width === logo?.height ? logo : null);
}

/**
 * Compresses a page in 50 µs, a third of the default quality's time, which saves an eighth more bytes. That is faster
 * than passing it to another thread, so it is done here.
 */
const BROTLI = { params: { [constants.BROTLI_PARAM_QUALITY]: 1, [constants.BROTLI_PARAM_MODE]: 1 } };
const GZIP = { level: 1 };

/** Sends a page, compressed if the client accepts that. */
export function sendPage(
  request: FastifyRequest,
  reply: FastifyReply,
  { status, html, isAscii }: Page,
  framedBy: readonly string[] = [],
): FastifyReply {
  void reply.code(status).headers(pageHeaders(framedBy));
  const encoding = negotiateEncoding(request.headers['accept-encoding']);
  if (encoding === 'identity') return isAscii ? sendAscii(reply, html) : reply.send(html);
  void reply.header('content-encoding', encoding);
  return reply.send(encoding === 'br' ? brotliCompressSync(html, BROTLI) : gzipSync(html, GZIP));
}

/** Head and page are sent in one write of plain bytes: encoding them would take as long as rendering the page. */
function sendAscii(reply: FastifyReply, html: string): FastifyReply {
  reply.hijack();
  void reply.header('content-length', html.length);
  reply.raw.writeHead(reply.statusCode, givenHeaders(reply));
  reply.raw.end(html, 'latin1');
  return reply;
}

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

/** The path of a logo or icon, by the hash of its bytes. */
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
