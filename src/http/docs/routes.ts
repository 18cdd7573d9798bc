import { setImmediate } from 'node:timers/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Mode } from '../../domain/permission.ts';
import type { Assets } from '../pages/assets.ts';
import { sendFile, servedText, type ServedFile } from '../served-file.ts';
import { renderApiPage } from './api-page.ts';
import { QUERY_LENGTH, renderContents } from './frame.ts';
import { fillMarks, readGuide } from './guide-pages.ts';
import { readOpenApi, toYaml } from './openapi-document.ts';
import {
  renderGuidePage,
  renderLlmsText,
  renderMissing,
  renderResults,
  renderStart,
  type Site,
} from './plain-pages.ts';
import { createSearch, type SearchResult } from './search.ts';
import { searchedPages } from './searched-pages.ts';

interface DocsOptions {
  readonly baseUrls: Readonly<Record<Mode, string>>;
  readonly assets: Assets;
  /** The name of the program on the server. */
  readonly program?: string;
}

const documented = { config: { guard: { kind: 'docs' } }, schema: { hide: true } } as const;

/** Browsers may cache it but must ask each time, because an update changes it. */
const FRESH = { 'cache-control': 'no-cache' } as const;

/** A page loads its own style and script, sends nothing but a search to this service, and cannot be framed. */
const PAGE = {
  ...FRESH,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const;

/** The content of one address, before it is compressed. */
interface Content {
  readonly type: 'text/html' | 'text/plain' | 'text/markdown' | 'application/json' | 'application/yaml';
  readonly make: (site: Site) => string;
}

interface Made {
  readonly site: Site;
  readonly search: (query: string) => readonly SearchResult[];
  /** The files of the guide, by their names in the path: a page, and its Markdown. */
  readonly guide: ReadonlyMap<string, Content>;
}

const START: Content = { type: 'text/html', make: renderStart };
const MISSING: Content = { type: 'text/html', make: renderMissing };
const JSON_FILE: Content = { type: 'application/json', make: ({ document }) => JSON.stringify(document) };
const YAML_FILE: Content = { type: 'application/yaml', make: ({ document }) => toYaml(document) };
const LLMS: Content = { type: 'text/plain', make: renderLlmsText };
const API: Content = { type: 'text/html', make: renderApiPage };

/**
 * The documentation: `/docs` and its pages, the search, `/llms.txt`, and the OpenAPI document as `/openapi.json`,
 * `/docs/json` and `/docs/yaml`. Each is made and compressed once, for its first reader; then everybody gets the same
 * bytes, at both addresses. Only results of a search are made for each request.
 */
export function docsRoutes(options: DocsOptions): (app: FastifyInstance) => void {
  const made = once(() => makeSite(options));
  const files = new Map<Content, () => Promise<ServedFile>>();
  const turn = takeTurns();
  const send = async (request: FastifyRequest, reply: FastifyReply, content: Content): Promise<FastifyReply> => {
    const file = files.get(content) ?? once(async () => serve(content, (await made()).site));
    files.set(content, file);
    return sendFile(request, reply, await file());
  };
  return (app) => {
    const get = (path: string, content: Content): void => {
      app.get(path, documented, (request, reply) => send(request, reply, content));
    };
    for (const path of ['/docs', '/docs/']) get(path, START);
    for (const path of ['/openapi.json', '/docs/json']) get(path, JSON_FILE);
    get('/docs/api', API);
    get('/docs/yaml', YAML_FILE);
    get('/llms.txt', LLMS);
    // The guide's own list of pages is a part of the start.
    for (const path of ['/docs/README', '/docs/README.md']) {
      app.get(path, documented, (_request, reply) => reply.redirect('/docs', 301));
    }
    app.get('/docs/search', documented, async (request, reply) => {
      const { site, search } = await made();
      const query = queryOf(request);
      await turn();
      void reply.headers({ ...PAGE, 'cache-control': 'no-store' }).type('text/html; charset=utf-8');
      return renderResults(site, query, search(query));
    });
    app.get<{ Params: { '*': string } }>('/docs/*', documented, async (request, reply) => {
      const content = (await made()).guide.get(request.params['*']);
      return content === undefined ? send(request, reply.code(404), MISSING) : send(request, reply, content);
    });
  };
}

/** One search for each turn of the event loop, so that many of them at once do not hold up orders. */
function takeTurns(): () => Promise<void> {
  let last = Promise.resolve();
  return () => (last = last.then(() => setImmediate()));
}

/** Remembers the outcome of the first call, unless it fails. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let making: Promise<T> | null = null;
  return () => {
    making ??= make().catch((error: unknown) => {
      making = null;
      throw error;
    });
    return making;
  };
}

async function makeSite({ baseUrls, assets, program = './bin/cointill' }: DocsOptions): Promise<Made> {
  const [document, groups] = await Promise.all([readOpenApi(baseUrls), readGuide(assets.guideFile)]);
  // Health and metrics are asked for on the machine itself; what a proxy shows of them is not known.
  const machine = /^http:\/\/(?:127\.|localhost)/.test(baseUrls.live) ? baseUrls.live : 'http://127.0.0.1:4000';
  const words = { live: baseUrls.live, sandbox: baseUrls.test, machine, program };
  const site: Site = { document, groups, assets, words, contents: renderContents(groups, null) };
  const guide = groups
    .flatMap(({ pages }) => pages)
    .flatMap((page): [string, Content][] => [
      [page.name, { type: 'text/html', make: (site) => renderGuidePage(site, page) }],
      [`${page.name}.md`, { type: 'text/markdown', make: ({ words }) => fillMarks(page.source, words) }],
    ]);
  return { site, search: createSearch(searchedPages(site)), guide: new Map(guide) };
}

function serve({ type, make }: Content, site: Site): Promise<ServedFile> {
  return servedText(make(site), `${type}; charset=utf-8`, type === 'text/html' ? PAGE : FRESH);
}

/** The searched text, cut. Repeated or nested parameters count as none. */
function queryOf(request: FastifyRequest): string {
  const { q } = request.query as Readonly<Record<string, unknown>>;
  return typeof q === 'string' ? q.slice(0, QUERY_LENGTH).toWellFormed().trim() : '';
}
