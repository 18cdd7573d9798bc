import type { FastifyInstance, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { USUAL_EXPIRY_MINUTES } from '../../app/payments/draft-payment.ts';
import { greenfieldPermissionsOf } from '../../domain/greenfield-permission.ts';
import { parseUuid } from '../../domain/id.ts';
import { methodId } from '../../domain/payment-method.ts';
import { keyOf } from '../api.ts';
import { notFound } from '../errors.ts';
import { invoiceRoutes } from './invoices.ts';
import { refundRoutes } from './refunds.ts';
import { currencyOf, greenfieldGuard, hidden, type Greenfield } from './store.ts';
import { webhookRoutes } from './webhooks.ts';

/** The version that plugins read: the API of BTCPay Server that these calls follow. */
const FOLLOWED_VERSION = '2.0.0';
const SYNCED = { fullySynched: true, syncStatus: [] };
/**
 * The calls of BTCPay Server's Greenfield API that shops' plugins make, below `/api/v1`. A store is a project, and its
 * invoices are those of `/v1/invoices`.
 */
export function greenfieldRoutes(api: Greenfield): (app: FastifyInstance) => void {
  return (app) => {
    app.get('/api/v1/health', { ...hidden, config: { guard: { kind: 'open' } } }, () => ({ synchronized: true }));
    serverRoutes(app, api);
    void app.register(async (scope) => {
      scope.addHook('preHandler', checkStore);
      storeRoutes(scope, api);
      invoiceRoutes(scope, api);
      refundRoutes(scope, api);
      webhookRoutes(scope, api);
    });
  };
}

const checkStore: preHandlerAsyncHookHandler = async (request) => {
  const { storeId } = request.params as { readonly storeId: string };
  if (parseUuid(storeId) === keyOf(request).project.id) return;
  throw notFound('The API key belongs to no store with this id.', 'store-not-found');
};

function serverRoutes(app: FastifyInstance, api: Greenfield): void {
  const anyKey = greenfieldGuard(null);
  app.get('/api/v1/server/info', anyKey, async (request) => ({
    version: FOLLOWED_VERSION,
    onion: null,
    supportedPaymentMethods: await methodIds(api, request),
    ...SYNCED,
  }));
  app.get('/api/v1/api-keys/current', anyKey, (request) => {
    const key = keyOf(request);
    const permissions = greenfieldPermissionsOf(key).map((permission) => `${permission}:${key.project.id}`);
    // Its text is known to its holder alone: what is stored cannot be turned back into it.
    return { apiKey: request.headers.authorization?.split(' ').at(-1) ?? '', label: key.project.name, permissions };
  });
  app.get('/api/v1/stores', anyKey, async (request) => [await storeOf(api, request)]);
}

function storeRoutes(app: FastifyInstance, api: Greenfield): void {
  const anyKey = greenfieldGuard(null);
  const methods = '/api/v1/stores/:storeId/payment-methods';
  app.get('/api/v1/stores/:storeId', anyKey, (request) => storeOf(api, request));
  app.get(methods, anyKey, async (request) =>
    (await methodIds(api, request)).map((paymentMethodId) => ({ enabled: true, paymentMethodId })),
  );
  app.get<{ Params: { readonly kind: string } }>(`${methods}/:kind`, anyKey, async (request) => {
    const kind = request.params.kind.toLowerCase();
    if (kind === 'lightningnetwork') return [];
    if (kind !== 'onchain') throw notFound('There is no such list of payment methods.', 'paymentmethod-not-found');
    const ids = await methodIds(api, request);
    return ids.map((id) => ({ enabled: true, cryptoCode: id.replace(/-CHAIN$/, '') }));
  });
}

async function storeOf({ access, app }: Greenfield, request: FastifyRequest) {
  const { project } = keyOf(request);
  return {
    id: project.id,
    name: project.name,
    website: '',
    defaultCurrency: await currencyOf(access, project.id),
    // PrestaShop's page of settings fails without these. The policy is BTCPay Server's usual one, and not followed.
    speedPolicy: 'MediumSpeed',
    invoiceExpiration: (project.defaultExpiryMinutes ?? USUAL_EXPIRY_MINUTES) * 60,
    monitoringExpiration: app.policy.monitoringMs / 1_000,
  };
}

async function methodIds({ app }: Greenfield, request: FastifyRequest): Promise<readonly string[]> {
  const { mode, project } = keyOf(request);
  return (await app.railFor(mode).tokens(project.id)).map(methodId);
}
