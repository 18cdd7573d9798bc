import { setImmediate } from 'node:timers/promises';
import type { Network } from '../../domain/networks.ts';
import { matchingAddress } from '../../rails/address.ts';
import type { WalletDeriver } from '../../rails/chain.ts';
import { addressesFrom } from '../../rails/derive-addresses.ts';
import type { Database, Trx } from '../../store/database.ts';
import { walletsAhead } from '../../store/wallets/unissued.ts';
import type { App, ProcessMemory } from '../context.ts';

/**
 * How many of a wallet's next addresses no refund may go to. Anybody can compute a treasury's, so this is far more than
 * are handed out while a refund is open. Only the owner can compute a key's addresses, and each takes 0.3 ms.
 */
const COMING = { treasury: 1_000, xpub: 100, descriptor: 100 } as const;
/** Beyond this many, derived addresses are forgotten. */
const MAX_KNOWN = 10_000;
/** How many addresses are derived at once: an order whose addresses are not derived yet waits for the batch. */
const BATCH = 50;
const INDEXES = 2 ** 31;

/**
 * Whether an address, in the form in which transfers carry it, is one of the next that the project's wallets on a
 * network hand out. Addresses watched ahead are not derived: their table, `unissued_addresses`, answers faster. Derived
 * are only those that a new wallet or a busy day has not added to the table yet, and those that the first deposit
 * factory would make of the next indexes, which are never watched.
 */
export async function isComing(
  app: Pick<App, 'railFor' | 'memory'>,
  executor: Database | Trx,
  { projectId, network }: { readonly projectId: string; readonly network: Network },
  address: string,
): Promise<boolean> {
  const rail = app.railFor('live');
  if (rail.kind === 'sandbox') return false;
  for (const { kind, source, nextIndex, watchedTo } of await walletsAhead(executor, projectId, network)) {
    const deriver = rail.openWallet(network, { kind, text: source });
    if (deriver === null) continue;
    const to = Math.min(nextIndex + COMING[kind], INDEXES);
    const own: Derive = async (from, count) => (await rail.derive(network, { kind, text: source }, from, count)) ?? [];
    const from = Math.max(nextIndex, watchedTo + 1);
    if ((await addressesOf(app.memory, network, deriver, own, from, to)).has(address)) return true;
    const { former } = deriver;
    if (former === undefined) continue;
    const formerly: Derive = async (start, count) => addressesFrom(former, start, count);
    if ((await addressesOf(app.memory, network, former, formerly, nextIndex, to)).has(address)) return true;
  }
  return false;
}

type Derive = (from: number, count: number) => Promise<readonly string[]>;

/**
 * A deriver's addresses with these indexes, and perhaps earlier ones. They are remembered, so that a claim tried again
 * and again costs little.
 */
async function addressesOf(
  { nextAddresses }: ProcessMemory,
  network: Network,
  deriver: WalletDeriver,
  derive: Derive,
  from: number,
  to: number,
): Promise<ReadonlySet<string>> {
  const before = nextAddresses.get(deriver);
  const goesOn = before !== undefined && from >= before.from && from <= before.to && to <= before.from + MAX_KNOWN;
  const derived = goesOn ? before : { from, to: from, addresses: new Set<string>() };
  nextAddresses.set(deriver, derived);
  while (derived.to < to) {
    const end = Math.min(to, derived.to + BATCH);
    for (const one of await derive(derived.to, end - derived.to)) derived.addresses.add(matchingAddress(network, one));
    derived.to = Math.max(derived.to, end);
    await setImmediate();
  }
  return derived.addresses;
}
