import type { Mode } from '../../domain/permission.ts';
import { findHits, type PaymentHit } from '../../store/payments/payment-list.ts';
import type { PaymentKeyKind, PaymentKey } from '../../store/payments/payment-keys.ts';
import type { App } from '../context.ts';
import { decodeId, parseUuid } from '../../domain/id.ts';

/** The payments that match a text: in the shown mode, or in the other mode if there are none. */
export interface Found {
  readonly mode: Mode;
  readonly hits: readonly PaymentHit[];
}

/** The possible meanings of a text, likeliest first: a text in the form of an id is most likely that id. */
const RANKS: readonly PaymentKeyKind[] = [
  'id',
  'number',
  'refund',
  'event',
  'transaction_hash',
  'address',
  'email',
  'order_id',
  'description',
];

/** Finds payments of a project by one text, which may be any of their identifiers. Returns at most `limit`. */
export async function search(
  app: App,
  { projectId, mode }: { readonly projectId: string; readonly mode: Mode },
  text: string,
  limit: number,
): Promise<Found> {
  const keys = (searchKeysOf(text) ?? []).toSorted((a, b) => RANKS.indexOf(a.kind) - RANKS.indexOf(b.kind));
  const hits = await findHits(app.db, { projectId, mode }, keys, limit);
  if (hits.length > 0) return { mode, hits };
  const other = mode === 'test' ? 'live' : 'test';
  const elsewhere = await findHits(app.db, { projectId, mode: other }, keys, limit);
  return elsewhere.length > 0 ? { mode: other, hits: elsewhere } : { mode, hits };
}

/** A shorter prefix of a description would match half of all payments. */
const MIN_DESCRIPTION = 3;
const HASH = /^(?:0x)?([0-9a-f]{64})$/i;
const EVM_ADDRESS = /^(?:0x)?([0-9a-f]{40})$/i;
/** Any form of an address, from the shortest in base58 to the longest in bech32m. */
const ADDRESS = /^[0-9a-z]{26,90}$/i;
/** A payment URI (BIP 21, EIP-681). */
const URI = /^[a-z]+:(?:pay-)?([0-9a-z]{26,90})(?:@\d+)?(?:\/\w+)?(?:\?(.*))?$/i;
const WEB_PAGE = /^https?:\/\/[^?#]*\/([^/?#]+)\/?(?:[?#].*)?$/i;

/**
 * Every meaning that a text in the search box can have by its form. Accepts addresses and hashes as wallets, explorers
 * and QR codes write them: in upper case, without `0x`, as a payment URI, or as the URL of an explorer's page. Null for
 * an empty text.
 */
export function searchKeysOf(search: string): readonly PaymentKey[] | null {
  const text = search.trim();
  if (text === '') return null;
  const bare = WEB_PAGE.exec(text)?.[1] ?? text;
  const hash = HASH.exec(bare)?.[1]?.toLowerCase();
  const addresses = addressForms(bare);
  return [
    // Any text may be the merchant's own order id.
    { kind: 'order_id', text },
    ...idKeys(bare),
    ...(text.includes('@') ? [{ kind: 'email', text } as const] : []),
    ...(/^txn-/i.test(text) ? [{ kind: 'number', text: text.toUpperCase() } as const] : []),
    ...(text.length >= MIN_DESCRIPTION ? [{ kind: 'description', text } as const] : []),
    ...(hash === undefined ? [] : [{ kind: 'transaction_hash', forms: [hash, `0x${hash}`] } as const]),
    ...(addresses.length === 0 ? [] : [{ kind: 'address', forms: addresses } as const]),
  ];
}

function idKeys(text: string): readonly PaymentKey[] {
  const lower = text.toLowerCase();
  const [order, refund, event] = [decodeId('order', lower), decodeId('refund', lower), decodeId('event', lower)];
  const uuid = parseUuid(text);
  return [
    ...(order === null ? [] : [{ kind: 'id', id: order, api: 'order' } as const]),
    ...(uuid === null ? [] : [{ kind: 'id', id: uuid, api: 'transaction' } as const]),
    ...(refund === null ? [] : [{ kind: 'refund', id: refund } as const]),
    ...(event === null ? [] : [{ kind: 'event', id: event } as const]),
  ];
}

function addressForms(text: string): readonly string[] {
  const [, uriAddress, query] = URI.exec(text) ?? [];
  // EIP-681: a token transfer names the token's contract first, and the recipient as a parameter.
  const receiver = new URLSearchParams(query).get('address');
  const written = [...new Set([receiver ?? uriAddress ?? text])].filter((one) => ADDRESS.test(one));
  return [
    ...new Set(
      written.flatMap((one) => {
        const evm = EVM_ADDRESS.exec(one)?.[1];
        // Base58 is case-sensitive; bech32 may be all upper case.
        return evm === undefined ? [one, one.toLowerCase()] : [`0x${evm.toLowerCase()}`];
      }),
    ),
  ];
}
