import { parsePaymentId, publicPaymentId } from '../../../domain/payment-kind.ts';
import { exportPayments } from '../../../app/dashboard/exports.ts';
import { search } from '../../../app/dashboard/search.ts';
import { EXPORT_COLUMNS, USUAL_COLUMNS } from '../../../domain/export-column.ts';
import { NETWORK_FACTS, NETWORKS } from '../../../domain/networks.ts';
import { countFound, idsFound } from '../../../store/payments/payment-count.ts';
import { searchPayments } from '../../../store/payments/payment-list.ts';
import { knowsZone, type PaymentExport } from '../../../store/reports/payment-export.ts';
import { invalid } from '../../errors.ts';
import { paymentRow } from '../payments/record.ts';
import type { Dashboard, Routes } from '../route.ts';
import type { ProjectScope } from '../scope.ts';
import { CHOSEN_BYTES, type ExportRequest } from './contract.ts';
import { readFilters } from './filters.ts';
import { keysetOf, listOf, writingOf } from '../record-parts.ts';
import { parseUuid } from '../../../domain/id.ts';
import { ASSET_CODES } from '../../../domain/asset-code.ts';
import { fiatDecimals, FIATS, formatDecimal } from '../../../domain/money.ts';

const PROJECT = '/dashboard/api/projects/:project/:mode';
const PAYMENTS = `${PROJECT}/payments` as const;
const READ = { action: 'read_payments' } as const;
const HITS = 8;

/** The list of both APIs' payments, and one box that finds a payment by any of its identifiers. */
export function paymentListRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  routes.add(`GET ${PAYMENTS}`, READ, async ({ scope, query }) => {
    const page = keysetOf(query, parseUuid);
    const found = await searchPayments(core.db, scope, readFilters(query), page);
    return listOf(found, page, paymentRow, ({ id }) => id);
  });
  routes.add(`GET ${PAYMENTS}/count`, READ, async ({ scope, query }) => {
    const found = await countFound(core.db, scope, readFilters(query));
    if (found === null) return { count: null, is_more: false, sums: [] };
    const sums = found.sums.map(({ currency, minor }) => ({
      currency,
      amount: formatDecimal(minor, fiatDecimals(currency)),
    }));
    return { count: found.count, is_more: found.isMore, sums };
  });
  routes.add(`GET ${PAYMENTS}/ids`, READ, async ({ scope, query }) => {
    const found = await idsFound(core.db, scope, readFilters(query));
    return { ids: found?.payments.map(publicPaymentId) ?? null, is_more: found?.isMore ?? false };
  });
  const LONG = { action: 'read_payments', bodyLimit: CHOSEN_BYTES } as const;
  routes.file(`POST ${PAYMENTS}/export`, LONG, async ({ scope, body, own }) => {
    const file = await fileOf(body, scope, dashboard);
    const { payments, ...filters } = body;
    // The log keeps the number of chosen payments alone.
    const asked = { ...filters, ...(payments !== undefined && { payments: payments.length }), columns: file.columns };
    const open = () => exportPayments(own, dashboard.exports.connect, file, asked);
    return { name: `payments-${scope.mode}`, format: file.format, open };
  });
  routes.add(`GET ${PROJECT}/search`, READ, async ({ scope, query }) => {
    const { mode, hits } = await search(core, scope, query.text, query.limit ?? HITS);
    return { mode, data: hits.map(({ by, payment }) => ({ found_by: by, payment: paymentRow(payment) })) };
  });
  routes.add('GET /dashboard/api/filters', { action: 'own_account' }, () =>
    Promise.resolve({
      coins: [...ASSET_CODES],
      networks: NETWORKS.map((name) => ({ name, label: NETWORK_FACTS[name].label })),
      currencies: [...FIATS],
    }),
  );
}

async function fileOf(
  body: ExportRequest,
  { projectId, mode }: ProjectScope,
  { people: { app } }: Dashboard,
): Promise<PaymentExport> {
  const { format, separator, columns, zone = 'UTC', payments, ...filters } = body;
  if (columns?.length === 0) throw invalid('columns', 'columns must name at least one column, or be left out.');
  if (!(await knowsZone(app.db, zone))) {
    throw invalid('zone', 'zone must be the name of a time zone such as Europe/Berlin, or UTC.');
  }
  return {
    scope: { projectId, mode },
    search: { ...readFilters(filters), ids: payments === undefined ? null : idsOf(payments) },
    columns: columns === undefined ? USUAL_COLUMNS : EXPORT_COLUMNS.filter((one) => columns.includes(one)),
    ...writingOf({ format, separator }),
    zone,
  };
}

/** Payments' ids; what is no id finds none. */
function idsOf(texts: readonly string[]): readonly string[] {
  return texts.flatMap((text) => parsePaymentId(text)?.id ?? ([] as const));
}
