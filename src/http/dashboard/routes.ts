import type { FastifyInstance, FastifyRequest } from 'fastify';
import { invalid } from '../errors.ts';
import { accountRoutes } from './account/routes.ts';
import { signInRoutes } from './account/sign-in-routes.ts';
import { annotationRoutes } from './annotations/routes.ts';
import { attentionRoutes } from './attention/routes.ts';
import { auditRoutes } from './audit/routes.ts';
import { connectPage } from './connect/pages.ts';
import { connectRoutes } from './connect/routes.ts';
import { deliveryRoutes } from './deliveries/routes.ts';
import { eventLogRoutes } from './event-log/routes.ts';
import { homeRoutes } from './home/routes.ts';
import { invoiceDocumentRoutes } from './invoice-documents/routes.ts';
import { keyRoutes, accessRoutes } from './keys/routes.ts';
import { liveRoutes } from './live/routes.ts';
import { newPaymentRoutes } from './new-payment/routes.ts';
import { notificationRoutes } from './notifications/routes.ts';
import { paymentListRoutes } from './payment-list/routes.ts';
import { refundRoutes } from './payment-refunds/routes.ts';
import { paymentRequestRoutes } from './payment-requests/routes.ts';
import { paymentRoutes } from './payments/routes.ts';
import { peopleRoutes } from './people/routes.ts';
import { customerRoutes } from './customers/routes.ts';
import { refundListRoutes } from './refunds/routes.ts';
import { reportRoutes } from './reports/routes.ts';
import { requestRoutes } from './requests/routes.ts';
import { createRoutes, type Dashboard } from './route.ts';
import { viewRoutes } from './saved-views/routes.ts';
import { fileSender } from './send-file.ts';
import { settingsRoutes } from './settings/routes.ts';
import { type ShellAssets, shellRoutes } from './shell.ts';
import { signingRoutes } from './signing/routes.ts';
import { sweepRoutes } from './sweeps/routes.ts';
import { tillRoutes } from './till/routes.ts';
import { walletRoutes } from './wallets/routes.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** The dashboard's page and API; without assets only the API. */
export function dashboardRoutes(dashboard: Dashboard, assets: ShellAssets | null): (app: FastifyInstance) => void {
  return (app) => {
    app.addHook('preValidation', refuseUnknown);
    const { people, exports, live } = dashboard;
    const send = fileSender(app, { clock: people.app.clock, exports, problems: live.problems });
    const routes = createRoutes(app, dashboard, send);
    signInRoutes(routes, dashboard);
    accountRoutes(routes, dashboard);
    notificationRoutes(routes, dashboard);
    peopleRoutes(routes, dashboard);
    auditRoutes(routes, dashboard);
    homeRoutes(routes, dashboard);
    attentionRoutes(routes, dashboard);
    paymentRoutes(routes, dashboard);
    paymentListRoutes(routes, dashboard);
    viewRoutes(routes, dashboard);
    newPaymentRoutes(routes, dashboard);
    refundRoutes(routes, dashboard);
    annotationRoutes(routes, dashboard);
    keyRoutes(routes, dashboard);
    accessRoutes(routes, dashboard);
    connectRoutes(routes, dashboard);
    liveRoutes(routes, dashboard);
    webhookRoutes(routes, dashboard);
    deliveryRoutes(routes, dashboard);
    eventLogRoutes(routes, dashboard);
    requestRoutes(routes, dashboard);
    settingsRoutes(routes, dashboard);
    sweepRoutes(routes, dashboard);
    walletRoutes(routes, dashboard);
    reportRoutes(routes, dashboard);
    refundListRoutes(routes, dashboard);
    customerRoutes(routes, dashboard);
    paymentRequestRoutes(routes, dashboard);
    invoiceDocumentRoutes(routes, dashboard);
    signingRoutes(routes, dashboard);
    tillRoutes(routes, dashboard);
    if (assets === null) return;
    shellRoutes(app, assets);
    connectPage(app, assets.connect, dashboard.isProduction);
  };
}

/**
 * A misspelt filter would show everything, and a misspelt amount refund everything, unnoticed; therefore the API, which
 * only this dashboard calls, accepts no unknown parameters and fields. The page's own addresses are read by the
 * browser.
 */
async function refuseUnknown(request: FastifyRequest): Promise<void> {
  const { config, schema } = request.routeOptions;
  if (config.guard?.kind !== 'session') return;
  refuseBeside(schema?.querystring, request.query, 'parameter');
  if (schema?.body !== undefined) refuseBeside(schema.body, request.body, 'field');
}

/** Throws for the first name that the schema does not have. */
function refuseBeside(schema: unknown, given: unknown, what: 'parameter' | 'field'): void {
  const known = Object.keys(Object(Object(schema).properties));
  const unknown = Object.keys(Object(given)).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const others = known.length === 0 ? `No ${what}s are allowed` : `The allowed ${what}s are ${known.join(', ')}`;
  throw invalid(unknown, `There is no ${what} ${unknown.slice(0, 100)} here. ${others}.`);
}
