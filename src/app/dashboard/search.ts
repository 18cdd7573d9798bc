import { currencyOf, typedAmounts } from '../../domain/typed-amount.ts';
import { decodeId, idsBeginning, uuidsBeginning } from '../../domain/id.ts';
import type { Fiat } from '../../domain/money.ts';
import type { FoundBy } from '../../domain/payment-filters.ts';
import { PAYMENT_APIS, type Payment } from '../../domain/payment.ts';
import type { Mode } from '../../domain/permission.ts';
import { NO_FILTERS } from '../../store/payments/payment-filter.ts';
import type { PaymentKey } from '../../store/payments/payment-keys.ts';
import { searchPayments } from '../../store/payments/payment-list.ts';
import { wordsOf, type SearchTerm } from '../../store/payments/search-words.ts';
import { PAYMENT_KINDS, publicPaymentId } from '../../domain/payment-kind.ts';
import type { App } from '../context.ts';

/** The payments that match a text: in the shown mode, or in the other mode if there are none. Newest first. */
export interface Found {
  readonly mode: Mode;
  readonly hits: readonly { readonly by: FoundBy; readonly payment: Payment }[];
}

/** Finds payments of a project by one text. Returns at most `limit`. */
export async function search(
  app: App,
  { projectId, mode }: { readonly projectId: string; readonly mode: Mode },
  text: string,
  limit: number,
): Promise<Found> {
  const terms = searchTermsOf(text) ?? [];
  const hitsIn = async (wanted: Mode): Promise<Found['hits']> => {
    const page = { after: null, limit };
    const payments = await searchPayments(app.db, { projectId, mode: wanted }, { ...NO_FILTERS, terms }, page);
    return payments.map((payment) => ({ by: foundBy(payment, terms[0]), payment }));
  };
  const hits = await hitsIn(mode);
  if (hits.length > 0) return { mode, hits };
  const other = mode === 'test' ? 'live' : 'test';
  const elsewhere = await hitsIn(other);
  return elsewhere.length > 0 ? { mode: other, hits: elsewhere } : { mode, hits };
}

/**
 * The terms of a text in the search box, between spaces: a payment must match each. Null for an empty text; without
 * terms if the text has neither letters nor digits, so that it finds nothing.
 */
export function searchTermsOf(text: string): readonly SearchTerm[] | null {
  const trimmed = text.trim();
  if (trimmed === '') return null;
  const parts = [...new Set(trimmed.split(/\s+/))];
  // A currency beside an amount says which amount; alone it may be a word.
  const hasAmount = parts.some((part) => typedAmounts(part).length > 0);
  const named = hasAmount ? parts.map(currencyOf) : [];
  const currency = named.find((one): one is Fiat => typeof one === 'string') ?? null;
  return parts.filter((_part, index) => named[index] === undefined).flatMap((part) => termOf(part, currency));
}

const HASH = /^(?:0x)?([0-9a-f]{64})$/i;
const EVM_ADDRESS = /^(?:0x)?([0-9a-f]{40})$/i;
/** Any form of an address, from the shortest in base58 to the longest in bech32m. */
const ADDRESS = /^[0-9a-z]{26,90}$/i;
/** A payment URI (BIP 21, EIP-681). */
const URI = /^[a-z]+:(?:pay-)?([0-9a-z]{26,90})(?:@\d+)?(?:\/\w+)?(?:\?(.*))?$/i;
const WEB_PAGE = /^https?:\/\/[^?#]*\/([^/?#]+)\/?(?:[?#].*)?$/i;

/**
 * Every meaning that a part of a search can have by its form. Accepts addresses and hashes as wallets, explorers and QR
 * codes write them: in upper case, without `0x`, as a payment URI, or as the URL of an explorer's page.
 */
function termOf(part: string, currency: Fiat | null): readonly SearchTerm[] {
  const bare = WEB_PAGE.exec(part)?.[1] ?? part;
  const address = addressOf(bare);
  const words = wordsOf(ADDRESS.test(address) ? address : bare);
  if (words.length === 0) return [];
  return [{ words, amounts: typedAmounts(part, currency), keys: [...idKeys(bare), ...chainKeys(bare, address)] }];
}

function idKeys(text: string): readonly PaymentKey[] {
  const lower = text.toLowerCase();
  const [refund, event] = [decodeId('refund', lower), decodeId('event', lower)];
  return [
    ...PAYMENT_APIS.flatMap((api) => {
      const { idKind } = PAYMENT_KINDS[api];
      const ids = idKind === null ? uuidsBeginning(lower) : idsBeginning(idKind, lower);
      return ids === null ? [] : [{ kind: 'id', api, ...ids } as const];
    }),
    ...(refund === null ? [] : [{ kind: 'refund', id: refund } as const]),
    ...(event === null ? [] : [{ kind: 'event', id: event } as const]),
  ];
}

function chainKeys(bare: string, address: string): readonly PaymentKey[] {
  const hash = HASH.exec(bare)?.[1]?.toLowerCase();
  const evm = EVM_ADDRESS.exec(address)?.[1];
  // Base58 is case-sensitive; bech32 may be all upper case.
  const forms = evm === undefined ? [address, address.toLowerCase()] : [`0x${evm.toLowerCase()}`];
  return [
    ...(hash === undefined ? [] : [{ kind: 'transaction_hash', forms: [hash, `0x${hash}`] } as const]),
    ...(ADDRESS.test(address) ? [{ kind: 'address', forms } as const] : []),
  ];
}

/** The address of a payment URI; any other text as it is. */
function addressOf(text: string): string {
  const [, uriAddress, query] = URI.exec(text) ?? [];
  // EIP-681: a token transfer names the token's contract first, and the recipient as a parameter.
  return new URLSearchParams(query).get('address') ?? uriAddress ?? text;
}

/** The first of a payment's texts that has the words of a term. */
function foundBy(payment: Payment, term: SearchTerm | undefined): FoundBy {
  if (term === undefined) return 'description';
  const { words, amounts, keys } = term;
  const begins = ` ${words.join(' ').replace(/^0x(?=[0-9a-f]{4})/, '')}`;
  const has = (text: string | null | undefined): boolean =>
    ` ${wordsOf(text ?? '').join(' ')} `.replaceAll(' 0x', ' ').includes(begins);
  const isKey = (kind: PaymentKey['kind']): boolean => keys.some((key) => key.kind === kind);
  const texts: readonly (readonly [FoundBy, boolean])[] = [
    ['id', isKey('id') && has(publicPaymentId(payment))],
    ['number', has(payment.transactionNumber)],
    ['order_id', has(payment.merchantOrderId)],
    ['email', has(payment.customerEmail)],
    ['name', has(payment.customerName)],
    ['amount', amounts.some((one) => one.currency === payment.currency && one.minor === payment.amountMinor)],
    ['transaction_hash', has(payment.transactionHash)],
    ['address', has(payment.quote?.address)],
    ['description', has(payment.description)],
    ['refund', isKey('refund')],
    ['event', isKey('event')],
    ['transaction_hash', isKey('transaction_hash')],
    ['address', isKey('address')],
  ];
  return texts.find(([, isFound]) => isFound)?.[0] ?? 'note';
}
