import { exportCustomers } from '../../../app/dashboard/export-customers.ts';
import { encodeId, parseUuid } from '../../../domain/id.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../../domain/money.ts';
import { leftMinor } from '../../../domain/payment-request.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import {
  aboutCustomer,
  findCustomer,
  findCustomers,
  type Customer,
  type CustomerNote,
} from '../../../store/payments/customers.ts';
import { openInvoicesOf } from '../../../store/payments/invoice-documents.ts';
import { requestSums } from '../../../store/payments/payment-requests.ts';
import { NO_FILTERS } from '../../../store/payments/payment-filter.ts';
import { searchPayments } from '../../../store/payments/payment-list.ts';
import { currencyOf } from '../../../store/projects/projects.ts';
import { isoTime } from '../../../wire/time.ts';
import { notFound } from '../../errors.ts';
import { paymentRow } from '../payments/record.ts';
import { keysetOf, listOf, writingOf } from '../record-parts.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { CustomerDetails, CustomerFilters, CustomerView } from './contract.ts';

const CUSTOMERS = '/dashboard/api/projects/:project/:mode/customers';
const READ = { action: 'read_payments' } as const;
/** The newest payments, open invoices, refunds and notes of a customer; the lists have all. */
const SHOWN = 10;

/** The customers of a project and mode: those whose payments have an e-mail address. */
export function customerRoutes(routes: Routes, dashboard: Dashboard): void {
  const { db } = dashboard.people.app;
  routes.add(`GET ${CUSTOMERS}`, READ, async ({ scope, query }) => {
    const page = keysetOf(query, parseUuid);
    const currency = await currencyOf(db, scope.projectId);
    const found = await findCustomers(db, scope, currency, { ...page, search: searchOf(query) });
    return listOf(
      found,
      page,
      (customer) => customerView(customer, currency),
      ({ lastId }) => lastId,
    );
  });
  routes.add(`POST ${CUSTOMERS}/find`, READ, async ({ scope, body: { email } }) => {
    const currency = await currencyOf(db, scope.projectId);
    const customer = await findCustomer(db, scope, currency, email);
    if (customer === null) throw notFound('No payment in this project and mode has this e-mail address.');
    const page = { after: null, limit: SHOWN };
    const [payments, open, { refunds, notes }] = await Promise.all([
      searchPayments(db, scope, { ...NO_FILTERS, customerEmail: email }, page),
      openInvoicesOf(db, scope, email, SHOWN),
      aboutCustomer(db, scope, email, SHOWN),
    ]);
    const requests = open.map(({ id }) => id);
    const sumsOf = await requestSums(db, requests, dashboard.people.app.clock());
    return {
      ...customerView(customer, currency),
      newest: payments.map(paymentRow),
      open: open.map((request) => ({
        id: encodeId('request', request.id),
        title: request.title,
        left: formatDecimal(leftMinor(request, sumsOf(request.id)) ?? 0n, fiatDecimals(request.currency)),
        currency: request.currency,
        created_at: isoTime(request.createdAt),
      })),
      refunds: refunds.map(({ id, status, units, decimals, asset, createdAt }) => ({
        id: encodeId('refund', id),
        status,
        crypto_amount: formatDecimal(units, decimals),
        asset,
        created_at: isoTime(createdAt),
      })),
      notes: notes.map(noteView),
    };
  });
  routes.file(`POST ${CUSTOMERS}/export`, 'read_payments', async ({ scope, body, own }) => {
    const { projectId, mode } = scope;
    const file = { scope: { projectId, mode }, search: searchOf(body), zone: 'UTC', ...writingOf(body) };
    const open = () => exportCustomers(own, dashboard.exports.connect, file, { ...body });
    return { name: `customers-${mode}`, format: file.format, open };
  });
}

function searchOf({ search = '' }: CustomerFilters): string {
  return search.trim();
}

function customerView(customer: Customer, currency: Fiat): CustomerView {
  const { email, payments, completed, isMore, value, refunded, unvalued, lastAt } = customer;
  const sum = (minor: bigint): string | null => (isMore ? null : formatDecimal(minor, fiatDecimals(currency)));
  return {
    id: email,
    payments,
    completed,
    is_more: isMore,
    value: sum(value),
    refunded: sum(refunded),
    currency,
    unvalued,
    last_payment_at: isoTime(lastAt),
  };
}

function noteView({ id, payment, author, body, createdAt }: CustomerNote): CustomerDetails['notes'][number] {
  return { id, payment: publicPaymentId(payment), author, body, created_at: isoTime(createdAt) };
}
