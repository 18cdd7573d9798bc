import type { PaymentApi } from '../domain/payment.ts';
import type { Api } from '../http/api.ts';
import { invoiceRoutes } from '../http/invoices/routes.ts';
import { orderRoutes } from '../http/orders/routes.ts';
import type { ServerOptions } from '../http/server.ts';
import { transactionRoutes } from '../http/transactions/routes.ts';

/** The routes of each kind of payment. */
const ROUTES: Readonly<Record<PaymentApi, (api: Api) => ServerOptions['plugins'][number]>> = {
  transaction: transactionRoutes,
  order: orderRoutes,
  invoice: invoiceRoutes,
};

/** The routes of all payments. */
export function paymentApis(api: Api): ServerOptions['plugins'] {
  return Object.values(ROUTES).map((routes) => routes(api));
}
