import type { App } from '../app/context.ts';
import type { Rejected } from '../app/rejected.ts';
import type { PaidTogether } from '../app/refunds/refund-held.ts';
import {
  instructionsFor,
  refundInstructions,
  type RefundInstructions,
  type SharedInstructions,
} from '../app/refunds/refund-instructions.ts';
import type { UtxoAccess } from '../app/refunds/refund-psbt.ts';
import { sendSigned, type SentOutcome } from '../app/refunds/send-signed.ts';
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

type Configured = Pick<Cointill, 'app' | 'networkConfigs' | 'maxFeeRate' | 'troubles'>;

/** What to sign for a refund, with the configured nodes. */
export function showInstructions(
  cointill: Configured,
  id: string,
  notPaidBy: readonly string[] = [],
): Promise<RefundInstructions | Rejected | InstructionsUnavailable> {
  return withNodes(cointill, (open) => refundInstructions(cointill.app, id, open, notPaidBy));
}

/** What to sign for several refunds of one wallet, with the configured nodes. */
export function showTogether(
  cointill: Configured,
  refunds: PaidTogether,
): Promise<SharedInstructions | InstructionsUnavailable> {
  return withNodes(cointill, (open) => instructionsFor(cointill.app, refunds, open));
}

/** Checks and sends what was signed for refunds, with the configured nodes. */
export function sendWithNodes(
  cointill: Configured,
  app: App,
  refunds: PaidTogether,
  text: string,
): Promise<SentOutcome | InstructionsUnavailable> {
  return withNodes(cointill, (open) => sendSigned(app, refunds, text, open));
}

async function withNodes<Result>(
  { networkConfigs, maxFeeRate, troubles }: Configured,
  work: (open: (network: Network) => UtxoAccess | null) => Promise<Result>,
): Promise<Result | InstructionsUnavailable> {
  const callers: UtxoCaller[] = [];
  const open = (network: Network): UtxoAccess | null => {
    const config = networkConfigs.find((one) => one.network === network);
    if (config?.family !== 'utxo') return null;
    const caller = utxoFamily.createCaller(config, { timeoutMs: NODE_TIMEOUT_MS, troubles });
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
