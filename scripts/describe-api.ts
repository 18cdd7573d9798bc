import swagger from '@fastify/swagger';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import type { Mode } from '../src/domain/permission.ts';
import { serversOf } from '../src/http/docs/openapi-document.ts';
import { completeDocument, documentHead } from '../src/http/openapi/openapi.ts';

/**
 * Collects the schemas of the routes that are registered after it, and generates the OpenAPI 3.1 document once the
 * server is ready.
 */
export function describeApi(app: FastifyInstance, baseUrls: Readonly<Record<Mode, string>>): () => Promise<object> {
  const routes: RouteOptions[] = [];
  app.addHook('onRoute', (route) => {
    if (!isHidden(route)) routes.push({ ...route });
  });
  return async () => {
    await app.ready();
    return documentOf(routes, baseUrls);
  };
}

function isHidden(route: RouteOptions): boolean {
  const schema: { readonly hide?: boolean } | undefined = route.schema;
  return schema?.hide === true || route.method === 'HEAD';
}

/** The generator describes an application with the same routes, without handlers. */
async function documentOf(routes: readonly RouteOptions[], baseUrls: Readonly<Record<Mode, string>>): Promise<object> {
  const reader = Fastify({ exposeHeadRoutes: false });
  reader.setValidatorCompiler(() => () => true);
  reader.setSerializerCompiler(() => JSON.stringify);
  await reader.register(swagger, { openapi: { ...documentHead(), servers: [...serversOf(baseUrls)] } });
  for (const { method, url, schema } of routes)
    reader.route({ method, url, schema: schema ?? {}, handler: () => null });
  await reader.ready();
  const document = completeDocument(reader.swagger());
  await reader.close();
  return document;
}
