import type { FastifyInstance } from 'fastify';
import { accountRoutes } from './account-routes.ts';
import { annotationRoutes } from './annotation-routes.ts';
import { homeRoutes } from './home-routes.ts';
import { liveRoutes } from './live-routes.ts';
import { newPaymentRoutes } from './new-payment-routes.ts';
import { paymentRoutes } from './payment-routes.ts';
import { peopleRoutes } from './people-routes.ts';
import { refundRoutes } from './refund-routes.ts';
import type { Dashboard } from './route.ts';
import type { ShellAssets } from './shell-assets.ts';
import { shellRoutes } from './shell-routes.ts';
import { signInRoutes } from './sign-in-routes.ts';

/** The dashboard: its page, and the API below it. Without assets there is the API alone. */
export function dashboardRoutes(dashboard: Dashboard, assets: ShellAssets | null): (app: FastifyInstance) => void {
  return (app) => {
    signInRoutes(app, dashboard);
    accountRoutes(app, dashboard);
    peopleRoutes(app, dashboard);
    homeRoutes(app, dashboard);
    paymentRoutes(app, dashboard);
    newPaymentRoutes(app, dashboard);
    refundRoutes(app, dashboard);
    annotationRoutes(app, dashboard);
    liveRoutes(app, dashboard);
    if (assets !== null) shellRoutes(app, assets);
  };
}
