import { setImmediate } from 'node:timers/promises';
import type { Network } from '../../domain/networks.ts';
import { matchingAddress } from '../../rails/address.ts';
import type { WalletDeriver } from '../../rails/chain.ts';
import type { Database, Trx } from '../../store/database.ts';
import { walletsAhead } from '../../store/unissued.ts';
import type { App } from '../context.ts';

/** How many of a wallet's next addresses no refund may go to: far more than are handed out while a refund is open. */
export const COMING = 1_000;
/** Deriving an address takes a tenth of a millisecond of CPU time: this many at once, then other work gets its turn. */
const BATCH = 50;
const INDEXES = 2 ** 31;

/**
 * Whether an address, in the form in which transfers carry it, is one of the next that the project's wallets on a
 * network hand out. Those that are watched ahead (`unissued_addresses`) are left out: their table says so faster. So
 * only what a new wallet or a busy day has not got there yet is derived, and what the first deposit factory would make
 * of the next indexes, which is never watched.
 */
export async function isComing(
  app: Pick<App, 'railFor'>,
  executor: Database | Trx,
  { projectId, network }: { readonly projectId: string; readonly network: Network },
  address: string,
): Promise<boolean> {
  const rail = app.railFor('live');
  if (rail.kind === 'sandbox') return false;
  for (const { kind, source, nextIndex, watchedTo } of await walletsAhead(executor, projectId, network)) {
    const deriver = rail.openWallet(network, { kind, text: source });
    if (deriver === null) continue;
    const to = Math.min(nextIndex + COMING, INDEXES);
    const isAmong = async (one: Derived, from: number) => (await addressesOf(network, one, from, to)).has(address);
    if (await isAmong(deriver, Math.max(nextIndex, watchedTo + 1))) return true;
    if (deriver.former !== undefined && (await isAmong(deriver.former, nextIndex))) return true;
  }
  return false;
}

type Derived = Pick<WalletDeriver, 'addressesAt'>;

/** What was derived before, from an index on, so that a claim tried again and again costs little. */
const derived = new WeakMap<Derived, { readonly from: number; to: number; readonly addresses: Set<string> }>();

/** The addresses with these indexes, and perhaps earlier ones. */
async function addressesOf(network: Network, deriver: Derived, from: number, to: number): Promise<ReadonlySet<string>> {
  const before = derived.get(deriver);
  const goesOn = before !== undefined && from >= before.from && from <= before.to && to <= before.from + 10 * COMING;
  const known = goesOn ? before : { from, to: from, addresses: new Set<string>() };
  derived.set(deriver, known);
  while (known.to < to) {
    const start = known.to;
    known.to = Math.min(to, start + BATCH);
    for (const one of deriver.addressesAt(start, known.to - start)) known.addresses.add(matchingAddress(network, one));
    await setImmediate();
  }
  return known.addresses;
}
