import type { FastifyInstance } from 'fastify';
import type { Mode } from '../../domain/permission.ts';
import type { Assets } from '../pages/assets.ts';
import { sendFile, servedText, type ServedFile } from '../served-file.ts';
import { readOpenApi, toYaml } from './openapi-document.ts';
import { renderDocs } from './page.ts';

interface Documents {
  readonly page: ServedFile;
  readonly json: ServedFile;
  readonly yaml: ServedFile;
}

interface DocsOptions {
  readonly baseUrls: Readonly<Record<Mode, string>>;
  readonly assets: Assets;
  /** The name of the program on the server. */
  readonly program?: string;
}

const documented = { config: { guard: { kind: 'docs' } }, schema: { hide: true } } as const;

/** Browsers may cache it but must ask each time, because an update changes it. */
const FRESH = { 'cache-control': 'no-cache' } as const;

/** The page loads its own style and script, sends nothing and cannot be framed. */
const PAGE = {
  ...FRESH,
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
} as const;

/**
 * `GET /docs`: the documentation. `GET /openapi.json`, `/docs/json`, `/docs/yaml`: the OpenAPI document. All are made
 * and compressed once, for the first reader; then everybody gets the same bytes, at both addresses.
 */
export function docsRoutes(options: DocsOptions): (app: FastifyInstance) => void {
  let making: Promise<Documents> | null = null;
  const documents = (): Promise<Documents> => {
    making ??= makeDocuments(options).catch((error: unknown) => {
      making = null;
      throw error;
    });
    return making;
  };
  return (app) => {
    const serve = (path: string, pick: (made: Documents) => ServedFile): void => {
      app.get(path, documented, async (request, reply) => sendFile(request, reply, pick(await documents())));
    };
    for (const path of ['/docs', '/docs/']) serve(path, ({ page }) => page);
    for (const path of ['/openapi.json', '/docs/json']) serve(path, ({ json }) => json);
    serve('/docs/yaml', ({ yaml }) => yaml);
  };
}

async function makeDocuments(options: DocsOptions): Promise<Documents> {
  const document = await readOpenApi(options.baseUrls);
  const [page, json, yaml] = await Promise.all([
    servedText(
      renderDocs(document, options.assets, options.program ?? './bin/cointill'),
      'text/html; charset=utf-8',
      PAGE,
    ),
    servedText(JSON.stringify(document), 'application/json; charset=utf-8', FRESH),
    servedText(toYaml(document), 'application/yaml; charset=utf-8', FRESH),
  ]);
  return { page, json, yaml };
}
