import type { FastifyRequest } from 'fastify';
import type { App } from '../../../app/context.ts';
import { USUAL_EXPIRY_MINUTES } from '../../../app/payments/draft-payment.ts';
import { cancelPayment, selectToken } from '../../../app/payments/payment-actions.ts';
import { newSale, readSale, salesSince, type SeenSale } from '../../../app/payments/till-sale.ts';
import { rejected } from '../../../app/rejected.ts';
import { fiatDecimals, FIATS, formatDecimal, parseDecimal } from '../../../domain/money.ts';
import { NO_MERCHANT_FIELDS, type Payment } from '../../../domain/payment.ts';
import { amountRange } from '../../../domain/amount-range.ts';
import { publicPaymentId } from '../../../domain/payment-kind.ts';
import { TIP_PERCENTS, USUAL_TILL } from '../../../domain/till.ts';
import { dayAt, isTimeZone, startOfDay } from '../../../domain/time-zone.ts';
import type { TillScope } from '../../../store/payments/till-sales.ts';
import { findProject } from '../../../store/projects/projects.ts';
import { actorOf } from '../../../app/people/sessions.ts';
import { clientAddress } from '../../client.ts';
import { invalid } from '../../errors.ts';
import { refusalError } from '../../page-sentences.ts';
import { createdOf, readAmount, textOrNull } from '../new-payment/routes.ts';
import { changeOf } from '../payments/routes.ts';
import { badField } from '../refusal-words.ts';
import type { BodyOf } from '../contract.ts';
import type { Dashboard, PaymentCall, Routes } from '../route.ts';
import { formRequest, noPayment, paymentSelector, signedInOf, type ProjectScope } from '../scope.ts';
import type { SaleView } from './contract.ts';
import { coinView, saleRow, saleSums, saleView } from './record.ts';

const TILL = '/dashboard/api/projects/:project/:mode/till';
const CREATE = `POST ${TILL}/sales` as const;
const USE = { action: 'use_till' } as const;
/** The list shows this many sales of a day. */
const SHOWN_SALES = 200;

/** The till: invoices that a person makes for customers who stand there. */
export function tillRoutes(routes: Routes, dashboard: Dashboard): void {
  const { app: core } = dashboard.people;
  routes.add(`GET ${TILL}`, USE, async ({ scope: { projectId, mode } }) => {
    const [coins, project] = await Promise.all([core.railFor(mode).listed(projectId), findProject(core.db, projectId)]);
    const { seenBelow, tips } = project?.till ?? USUAL_TILL;
    return {
      currencies: [...FIATS],
      currency: project?.defaultCurrency ?? 'USD',
      coins: coins.map(coinView),
      tips: tips ? [...TIP_PERCENTS] : [],
      seen_below: seenBelow,
    };
  });
  routes.add(`GET ${TILL}/sales`, USE, async ({ scope, request, query: { zone = 'UTC' } }) => {
    if (!isTimeZone(zone)) throw invalid('zone', 'zone must be the name of a time zone, such as Europe/Berlin.');
    const day = dayAt(zone, core.clock());
    const sales = await salesSince(core, tillScope(request, scope), startOfDay(zone, day));
    return {
      day,
      sales: sales.slice(0, SHOWN_SALES).map(saleRow),
      has_more: sales.length > SHOWN_SALES,
      sums: saleSums(sales),
    };
  });
  chargeRoute(routes, dashboard);
  routes.add(`GET ${TILL}/sales/:payment`, USE, async (call) => viewOf(core, await ownSale(core, call)));
  routes.add(`POST ${TILL}/sales/:payment/coin`, USE, async (call) => {
    const { scope, own, body, params } = call;
    const { quote } = (await ownSale(core, call)).payment;
    // Sent again, the choice is already made, and must not count as another change.
    const isChosen = quote?.asset === body.asset && quote.network === body.network;
    if (!isChosen) changeOf(await selectToken(own, paymentSelector(scope, params.payment), body));
    return viewOf(core, await ownSale(core, call));
  });
  routes.add(`POST ${TILL}/sales/:payment/cancel`, USE, async (call) => {
    const { scope, own, params } = call;
    const { status } = (await ownSale(core, call)).payment;
    if (status !== 'cancelled') changeOf(await cancelPayment(own, paymentSelector(scope, params.payment)));
    return viewOf(core, await ownSale(core, call));
  });
}

/** Makes a sale and its quote in one request, so that the code is there one tap after the amount. */
function chargeRoute(routes: Routes, { people: { app: core }, creator }: Dashboard): void {
  routes.add(CREATE, USE, async ({ scope, body, request }) => {
    const project = await findProject(core.db, scope.projectId);
    if (project?.active !== true) throw refusalError(rejected('project_inactive'));
    const { tipMinor, ...amounts } = readAmounts(body);
    if (tipMinor > 0n && !(project.till ?? USUAL_TILL).tips) throw badField('tip', 'no_tips', {});
    const { person } = signedInOf(request);
    const { asset, network } = body;
    const drafts: Payment[] = [];
    const outcome = await creator.create(
      {
        ...NO_MERCHANT_FIELDS,
        ...amounts,
        projectId: scope.projectId,
        mode: scope.mode,
        api: 'invoice',
        token: asset === undefined ? null : { asset, network: network ?? null },
        description: textOrNull(body.note),
        // The tip is part of the amount; programs that read the payment find it here.
        metadata: tipMinor === 0n ? {} : { tip: formatDecimal(tipMinor, fiatDecimals(body.currency)) },
        lifetimeMs: (project.defaultExpiryMinutes ?? USUAL_EXPIRY_MINUTES) * 60_000,
        requestId: request.id,
        by: actorOf(person, clientAddress(request)),
        till: { personId: person.id, tipMinor },
      },
      (payment) => {
        drafts.push(payment);
        return JSON.stringify({ id: publicPaymentId(payment) });
      },
      formRequest(request, scope, body.request),
    );
    const { id } = JSON.parse(createdOf(outcome)) as { readonly id: string };
    // A draft with another id was rolled back, with its address: another process had saved this charge just before. A
    // charge that was sent before may be paid by now.
    const made = drafts.find((payment) => publicPaymentId(payment) === id);
    const sale =
      made === undefined
        ? await ownSale(core, { request, scope, params: { payment: id } })
        : newSale(core, made, tipMinor);
    return viewOf(core, sale);
  });
}

function tillScope(request: FastifyRequest, { projectId, mode }: ProjectScope): TillScope {
  return { projectId, mode, personId: signedInOf(request).person.id };
}

/** A sale of this person. @throws RequestError, the same for another person's sale and for none */
async function ownSale(
  core: App,
  {
    request,
    scope,
    params: { payment: id },
  }: Pick<PaymentCall, 'request' | 'scope'> & { readonly params: { readonly payment: string } },
): Promise<SeenSale> {
  const sale = await readSale(core, tillScope(request, scope), paymentSelector(scope, id).id);
  if (sale === null || publicPaymentId(sale.payment) !== id) throw noPayment();
  return sale;
}

function viewOf(core: App, sale: SeenSale): SaleView {
  return saleView(sale, core.clock());
}

/** The whole amount, and the tip in it, in minor units. */
function readAmounts({ amount, tip = '', currency }: BodyOf<typeof CREATE>) {
  const tipMinor = tip.trim() === '' ? 0n : parseDecimal(tip.trim(), fiatDecimals(currency));
  const ownMinor = readAmount(amount, currency);
  // A larger tip is an amount that was typed in the wrong place.
  if (tipMinor === null || tipMinor > ownMinor) {
    const { decimals } = amountRange(currency);
    const range = { least: '0', most: formatDecimal(ownMinor, fiatDecimals(currency)), currency, decimals };
    throw badField('tip', 'amount_range', range);
  }
  const whole = ownMinor + tipMinor;
  return { currency, tipMinor, amountMinor: readAmount(formatDecimal(whole, fiatDecimals(currency)), currency) };
}
