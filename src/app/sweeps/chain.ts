import { fiatValue } from '../../domain/asset.ts';
import type { AssetCode } from '../../domain/asset-code.ts';
import { pow10 } from '../../domain/money.ts';
import type { EvmNetwork } from '../../domain/networks.ts';
import { shownAddress } from '../../rails/address.ts';
import { ChainUnavailableError } from '../../rails/chain.ts';
import type { EvmCaller } from '../../rails/evm/caller.ts';
import type { EvmBlockTransaction } from '../../rails/evm/reader.ts';
import type { TokenContracts } from '../../rails/evm/tokens.ts';
import type { Sweep } from '../../store/sweeps/sweeps.ts';
import type { App } from '../context.ts';
import { decimalsOf } from '../projects/sweep.ts';

/** A network with deposits, as the operator configured it, with its nodes. */
export interface SweepChain {
  readonly network: EvmNetwork;
  readonly chainId: number;
  readonly tokens: TokenContracts;
  readonly caller: EvmCaller;
}

/** Null: the service does not follow this network. */
export type SweepChains = (network: string) => SweepChain | null;

/** The largest age of an event that is valued at the present price. */
const MAX_PRICE_AGE_MS = 15 * 60_000;

/** The worth of an amount, in US cents, at a recent moment; null without a price, or if the moment is too long ago. */
export function worthAt(
  app: Pick<App, 'railFor' | 'clock'>,
  { network, tokens }: Pick<SweepChain, 'network' | 'tokens'>,
  { asset, units, at }: { readonly asset: AssetCode | null; readonly units: bigint; readonly at: number | null },
): bigint | null {
  if (asset === null || at === null || app.clock() - at > MAX_PRICE_AGE_MS) return null;
  const price = app.railFor('live').rates.usdPrice(asset);
  return price === null ? null : fiatValue(units, decimalsOf(asset, network, tokens), price, 'USD', pow10(8));
}

/** The token's contract in lower case; null for the chain's own coin. Undefined: not an asset of this network now. */
export function contractOf({ tokens }: Pick<SweepChain, 'tokens'>, asset: AssetCode, coin: AssetCode | null) {
  return asset === coin ? null : tokens.get(asset)?.contract.toLowerCase();
}

/** The address that paid for a sweep's gas, with its checksum. */
export function shownSender({ network, sender }: Pick<Sweep, 'network' | 'sender'>): string | null {
  return sender === null ? null : shownAddress(network, sender);
}

/** Whether a transaction is exactly the call that a wallet was asked for. */
export function isCallOf(
  { callTo, callData }: Pick<Sweep, 'callTo' | 'callData'>,
  sent: EvmBlockTransaction | null,
): boolean {
  return sent !== null && callTo !== null && sent.to === callTo.toLowerCase() && sent.data === callData;
}

/** Whether a node knows a transaction now; false if none answers. */
export async function isKnownBy(chain: SweepChain | null, hash: string): Promise<boolean> {
  try {
    return (await chain?.caller.knows(hash)) === true;
  } catch (error) {
    if (error instanceof ChainUnavailableError) return false;
    throw error;
  }
}
