import type { OutgoingHttpHeaders } from 'node:http';
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, type RouteOptions } from 'fastify';
import type { Mode } from '../domain/permission.ts';
import { nothingAt } from './guard.ts';
import { completeDocument, documentHead } from './openapi.ts';

type BaseUrls = Readonly<Record<Mode, string>>;

/**
 * Collects the schemas of all routes that are registered after it; `GET /openapi.json` and `/docs` show them.
 * The generator and the viewer take about 0.4 s and 30 MB, so they are loaded by the first reader, in a small application
 * of their own, and not at every start.
 */
export function describeApi(app: FastifyInstance, baseUrls: BaseUrls): void {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (!isHidden(route)) routes.push({ ...route });
  });
  let reading: Promise<FastifyInstance> | null = null;
  const reader = (): Promise<FastifyInstance> => (reading ??= buildReader(routes, baseUrls));
  let completing: Promise<object> | null = null;
  const document = (): Promise<object> =>
    (completing ??= reader().then((described) => completeDocument(described.swagger())));
  const hidden = { config: { guard: { kind: 'open' as const } }, schema: { hide: true } };
  app.decorate('openApi', document);
  app.get('/openapi.json', hidden, document);
  app.get('/docs', hidden, (_request, reply) => reply.redirect('/docs/'));
  app.get('/docs/*', hidden, async (request, reply) => passOn(await reader(), request, reply));
  app.addHook('onClose', async () => {
    if (reading !== null) await (await reading).close();
  });
}

declare module 'fastify' {
  interface FastifyInstance {
    /** The OpenAPI 3.1 document of all routes. */
    openApi(): Promise<object>;
  }
}

function isHidden(route: RouteOptions): boolean {
  const schema: { readonly hide?: boolean } | undefined = route.schema;
  return schema?.hide === true || route.method === 'HEAD';
}

/** An application that has the same routes, without handlers, and shows their description. */
async function buildReader(routes: readonly RouteOptions[], baseUrls: BaseUrls): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import('@fastify/swagger'),
    import('@fastify/swagger-ui'),
  ]);
  const reader = Fastify({ exposeHeadRoutes: false });
  reader.setValidatorCompiler(() => () => true);
  reader.setSerializerCompiler(() => JSON.stringify);
  await reader.register(swagger, {
    openapi: documentHead(baseUrls),
  });
  await reader.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: true,
    // A developer reads them over plain HTTP on his own machine.
    transformStaticCSP: (header) => header.replace(/upgrade-insecure-requests;?/, ''),
    transformSpecification: (generated) => ({ ...completeDocument(generated) }),
    theme: { title: 'Cointill API', css: [{ filename: 'theme.css', content: '.topbar { display: none }' }] },
  });
  for (const { method, url, schema } of routes)
    reader.route({ method, url, schema: schema ?? {}, handler: () => null });
  await reader.ready();
  return reader;
}

async function passOn(reader: FastifyInstance, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const answer = await reader.inject({ method: 'GET', url: request.url });
  if (answer.statusCode === 404) throw nothingAt(request);
  const headers: OutgoingHttpHeaders = { ...answer.headers };
  // What concerns the connection is for the outer server to say.
  for (const name of ['connection', 'date', 'content-length', 'transfer-encoding']) delete headers[name];
  return reply.code(answer.statusCode).headers(headers).send(answer.rawPayload);
}
