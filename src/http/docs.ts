import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import type { Mode } from '../domain/permission.ts';

/** Collects the schemas of all routes that are registered after it; `GET /openapi.json` and `/docs` show them. */
export const describeApi = fastifyPlugin(
  async (app: FastifyInstance, options: { readonly baseUrls: Readonly<Record<Mode, string>> }) => {
    app.addHook('onRoute', (route) => {
      if (route.url.startsWith('/docs')) route.config = { ...route.config, guard: { kind: 'open' } };
    });
    await app.register(swagger, {
      openapi: {
        openapi: '3.1.0',
        info: {
          title: 'Cointill',
          version: '1',
          description: 'Accept cryptocurrency payments. Test keys begin with sk_test_, live keys with sk_live_.',
          license: { name: 'MIT', identifier: 'MIT' },
        },
        servers: [
          { url: options.baseUrls.test, description: 'Sandbox' },
          { url: options.baseUrls.live, description: 'Live' },
        ],
        components: { securitySchemes: { apiKey: { type: 'http', scheme: 'bearer' } } },
        security: [{ apiKey: [] }],
      },
    });
    app.get('/openapi.json', { config: { guard: { kind: 'open' } }, schema: { hide: true } }, () => app.swagger());
    await app.register(swaggerUi, {
      routePrefix: '/docs',
      staticCSP: true,
      // A developer reads them over plain HTTP on his own machine.
      transformStaticCSP: (header) => header.replace(/upgrade-insecure-requests;?/, ''),
      uiConfig: { url: '/openapi.json' },
    });
  },
  { name: 'describe-api' },
);
