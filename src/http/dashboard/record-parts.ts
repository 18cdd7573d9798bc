import { invalid } from '../errors.ts';
import { NETWORK_FACTS, type EvmNetwork } from '../../domain/networks.ts';
import type { StoredKey } from '../../store/projects/api-keys.ts';
import { isoTime } from '../../wire/time.ts';
import type { WalletChain } from './contract-parts.ts';

/**
 * The data with which a browser wallet adds an unknown network. Null on a chain that is not the network's main chain,
 * to which these nodes and explorer belong. The service's own nodes are left out: their addresses may contain keys.
 */
export function walletChainOf(network: EvmNetwork, chainId: number): WalletChain {
  const { label, chainId: mainId, gasCoin, publicNode, explorer } = NETWORK_FACTS[network];
  if (chainId !== mainId || gasCoin === null || publicNode === null) return null;
  return { name: label, currency: gasCoin, rpc_url: publicNode, explorer_url: explorer };
}

/** The explorer's page of a transaction or address; null without an explorer. */
export function pageOf(
  explorer: string | null,
  what: string,
  page: (explorer: string, what: string) => string,
): string | null {
  return explorer === null ? null : page(explorer, what);
}

const MINUTE_MS = 60_000;

/** When a key was last used, to the minute, which is how often that is saved. */
export function lastUseOf({ lastUsedAt }: Pick<StoredKey, 'lastUsedAt'>): string | null {
  return lastUsedAt === null ? null : isoTime(Math.floor(lastUsedAt / MINUTE_MS) * MINUTE_MS);
}

/** The requested page of a list, read with one more row than the page shows. */
export interface Keyset<Id> {
  readonly after: Id | null;
  readonly limit: number;
}

const PAGE = 50;

/** @throws RequestError if `after` is not what `read` takes */
export function keysetOf<Id>(
  { after, limit = PAGE }: { readonly after?: string; readonly limit?: number },
  read: (text: string) => Id | null,
): Keyset<Id> {
  const id = after === undefined ? null : read(after);
  if (after !== undefined && id === null) {
    throw invalid('after', 'after must be the value of next from the previous page.');
  }
  return { after: id, limit: limit + 1 };
}

/** The page of the rows that were read for it; `next` is the id of its last one where there are more. */
export function listOf<Row, View>(
  found: readonly Row[],
  { limit }: Keyset<unknown>,
  view: (row: Row) => View,
  idOf: (row: Row) => string,
): { data: View[]; next: string | null } {
  const shown = found.slice(0, limit - 1);
  const last = found.length < limit ? undefined : shown.at(-1);
  return { data: shown.map(view), next: last === undefined ? null : idOf(last) };
}

/** How an exported file is to be written. */
export function writingOf({
  format = 'csv',
  separator = 'comma',
}: {
  readonly format?: 'csv' | 'jsonl' | undefined;
  readonly separator?: 'comma' | 'semicolon' | undefined;
}) {
  return { format, separator: separator === 'comma' ? (',' as const) : (';' as const) };
}
