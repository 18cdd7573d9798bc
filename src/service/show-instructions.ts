import type { Rejected } from '../app/rejected.ts';
import { refundInstructions, type RefundInstructions } from '../app/refunds/refund-instructions.ts';
import type { UtxoAccess } from '../app/refunds/refund-psbt.ts';
import type { Network } from '../domain/networks.ts';
import { ChainUnavailableError } from '../rails/chain.ts';
import type { UtxoCaller } from '../rails/utxo/caller.ts';
import { utxoFamily } from '../rails/utxo/family.ts';
import type { Cointill } from './core.ts';

const NODE_TIMEOUT_MS = 10_000;

/** No node answered. `message` names the nodes and their errors. */
export interface InstructionsUnavailable {
  readonly kind: 'unavailable';
  readonly message: string;
  readonly error: Error;
}

/** What to sign for a refund, with the configured nodes. */
export async function showInstructions(
  cointill: Pick<Cointill, 'app' | 'networkConfigs' | 'maxFeeRate' | 'troubles'>,
  id: string,
  notPaidBy: readonly string[] = [],
): Promise<RefundInstructions | Rejected | InstructionsUnavailable> {
  const callers: UtxoCaller[] = [];
  const open = (network: Network): UtxoAccess | null => {
    const config = cointill.networkConfigs.find((one) => one.network === network);
    if (config?.family !== 'utxo') return null;
    const caller = utxoFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, troubles: cointill.troubles });
    callers.push(caller);
    return { params: caller.params, caller, maxFeeRate: cointill.maxFeeRate };
  };
  try {
    return await refundInstructions(cointill.app, id, open, notPaidBy);
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { kind: 'unavailable', message: error.message, error };
    throw error;
  } finally {
    await Promise.all(callers.map((caller) => caller.close()));
  }
}
