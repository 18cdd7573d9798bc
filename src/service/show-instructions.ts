import type { Rejected } from '../app/rejected.ts';
import { instructionsFor, refundInstructions, type RefundInstructions } from '../app/refunds/refund-instructions.ts';
import type { UtxoAccess } from '../app/refunds/refund-psbt.ts';
import { sendSigned } from '../app/refunds/send-signed.ts';
import type { Network } from '../domain/networks.ts';
import type { Dashboard } from '../http/dashboard/route.ts';
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

type Configured = Pick<Cointill, 'app' | 'networkConfigs' | 'maxFeeRate' | 'problems'>;

/** Shows the instructions of a refund, with the configured nodes. */
export function showInstructions(
  cointill: Configured,
  id: string,
  notPaidBy: readonly string[] = [],
): Promise<RefundInstructions | Rejected | InstructionsUnavailable> {
  return withNodes(cointill, (open) => refundInstructions(cointill.app, id, open, notPaidBy));
}

/** Signs refunds in the dashboard, with the configured nodes. */
export function signingWithNodes(cointill: Configured): Dashboard['signing'] {
  return {
    show: (refunds) => withNodes(cointill, (open) => instructionsFor(cointill.app, refunds, open)),
    send: (app, refunds, text) => withNodes(cointill, (open) => sendSigned(app, refunds, text, open)),
  };
}

async function withNodes<Result>(
  { networkConfigs, maxFeeRate, problems }: Configured,
  work: (open: (network: Network) => UtxoAccess | null) => Promise<Result>,
): Promise<Result | InstructionsUnavailable> {
  const callers: UtxoCaller[] = [];
  const open = (network: Network): UtxoAccess | null => {
    const config = networkConfigs.find((one) => one.network === network);
    if (config?.family !== 'utxo') return null;
    const caller = utxoFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, problems });
    callers.push(caller);
    return { params: caller.params, caller, maxFeeRate };
  };
  try {
    return await work(open);
  } catch (error) {
    if (error instanceof ChainUnavailableError) return { kind: 'unavailable', message: error.message, error };
    throw error;
  } finally {
    await Promise.all(callers.map((caller) => caller.close()));
  }
}
