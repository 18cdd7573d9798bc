import { createThread } from '../threads/thread.ts';
import type { DeriveAddresses } from './derive-addresses.ts';
import type { UtxoChains } from './family.ts';

export interface AddressThread {
  /** Requests are answered in their order. */
  readonly derive: DeriveAddresses;
  readonly stop: () => Promise<void>;
}

/** Derives addresses on a thread of its own (docs/design/group-commit.md). */
export function createAddressThread(chains: UtxoChains): AddressThread {
  const thread = createThread<Parameters<DeriveAddresses>, readonly string[] | null>(
    new URL('./address-worker.ts', import.meta.url),
    chains,
    'derives addresses',
  );
  return { derive: (...wanted) => thread.ask(wanted), stop: thread.stop };
}
