import { allTokens, ASSET_CODES } from '../../domain/asset.ts';
import { decodeId, parseUuid } from '../../domain/id.ts';
import { NETWORKS } from '../../domain/networks.ts';
import { EXCEPTIONS } from '../../domain/payment.ts';
import { PAYMENT_STATUSES } from '../../domain/status.ts';
import type { PaymentKey, PaymentSearch } from '../../store/payment-list.ts';
import { readCreated } from '../dates.ts';
import { invalid } from '../errors.ts';
import type { QueryOf } from './contract/index.ts';

type Query = QueryOf<'GET /dashboard/api/projects/:project/:mode/payments'>;

/**
 * The list's filters.
 *
 * @throws RequestError if a word is not one that payments can have
 */
export function readFilters(query: Query): PaymentSearch {
  const assets = wordsOf('asset', query.asset, ASSET_CODES);
  const networks = wordsOf('network', query.network, NETWORKS);
  const tokens =
    assets === null && networks === null
      ? null
      : allTokens().filter(
          ({ asset, network }) => (assets?.includes(asset) ?? true) && (networks?.includes(network) ?? true),
        );
  const { created_after, created_before } = query;
  return {
    statuses: wordsOf('status', query.status, PAYMENT_STATUSES),
    exceptions: wordsOf('exception', query.exception, EXCEPTIONS),
    surface: query.surface ?? null,
    tokens,
    ...readCreated({
      ...(created_after === undefined ? {} : { created_after }),
      ...(created_before === undefined ? {} : { created_before }),
    }),
    keys: keysOf(query.search ?? ''),
  };
}

/** The cursor from `after`. */
export function readAfter(text: string | undefined): string | null {
  if (text === undefined) return null;
  const id = parseUuid(text);
  if (id === null) throw invalid('after', 'after must be the next of the page before, as it was given.');
  return id;
}

/** Words separated by commas, without duplicates; null if there are none. */
function wordsOf<Word extends string>(
  name: string,
  text: string | undefined,
  known: readonly Word[],
): readonly Word[] | null {
  const given = (text ?? '').split(',').filter((word) => word !== '');
  if (given.length === 0) return null;
  const unknown = given.find((word) => !known.some((one) => one === word));
  if (unknown !== undefined) throw invalid(name, `${name} must be one or more of ${known.join(', ')}, by commas.`);
  return known.filter((word) => given.includes(word));
}

/** The keys that a text in the search box may equal; null if it is empty. */
function keysOf(search: string): readonly PaymentKey[] | null {
  const text = search.trim();
  if (text === '') return null;
  const order = decodeId('order', text.toLowerCase());
  const uuid = parseUuid(text);
  // Any text can be the merchant's own order id.
  const keys: PaymentKey[] = [{ kind: 'order_id', text }];
  if (order !== null) keys.push({ kind: 'id', id: order, surface: 'order' });
  if (uuid !== null) keys.push({ kind: 'id', id: uuid, surface: 'transaction' });
  if (text.includes('@')) keys.push({ kind: 'email', text });
  else keys.push({ kind: 'number', text: text.toUpperCase() });
  return keys;
}
