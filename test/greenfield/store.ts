import type { Answer, Call, HttpTest, KeySpec, Shop } from '../http.ts';

/** The fields of an invoice, as Greenfield shows it, that tests read. */
export interface Invoice {
  readonly id: string;
  readonly status: string;
  readonly additionalStatus: string;
  readonly metadata: object;
  readonly [name: string]: unknown;
}

type GreenfieldCall = Omit<Call, 'path'> & { readonly path: string; readonly as?: Partial<KeySpec> };
type CallStore = <Body = Invoice>(shop: Shop, call: GreenfieldCall) => Promise<Answer<Body>>;

/** Calls below a shop's store, with `Authorization: token …` as plugins send it. */
export function greenfield(http: HttpTest): CallStore {
  return async (shop, { as = {}, ...request }) => {
    const mode = request.side ?? as.mode ?? 'test';
    const key = await shop.key({ mode, ...as });
    const path = `/api/v1/stores/${shop.projectId}${request.path}`;
    return http.call({ ...request, side: mode, path, headers: { authorization: `token ${key}` } });
  };
}

/** A new invoice of 49.99 EUR, unless the fields say otherwise. */
export async function createdInvoice(call: CallStore, shop: Shop, fields: object = {}): Promise<Invoice> {
  const { status, body } = await call(shop, {
    path: '/invoices',
    body: { amount: '49.99', currency: 'EUR', ...fields },
  });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}
