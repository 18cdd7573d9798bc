import { allTokens } from './asset.ts';
import type { Payment } from './payment.ts';
import { isCounting, isOpen } from './status.ts';

interface SimulationRow {
  /** The sentence of the documentation that says what happens. */
  readonly meaning: string;
  /** The money can pass through detected and confirming, a stage at a time, instead of being confirmed at once. */
  readonly isStaged?: true;
}

/** The outcomes that can be simulated for a test payment. */
const ROWS = {
  paid: { meaning: 'The full amount arrives in time and is confirmed.', isStaged: true },
  confirming: { meaning: 'The full amount is in a block and waits for confirmations.' },
  part: { meaning: 'Half of the amount arrives and is confirmed.' },
  over: { meaning: 'Half as much again as the amount arrives and is confirmed.', isStaged: true },
  late: { meaning: 'The full amount arrives after the time to pay has run out.' },
  failed: { meaning: 'The full amount is detected but never confirmed.' },
  expired: { meaning: 'The time to pay runs out.' },
  replaced: {
    meaning:
      'The transaction that was detected disappears before it is in a block, and another one pays the full amount.',
  },
  reorged: { meaning: 'The payment completes, and then a chain reorganisation removes its money.' },
  wrong_asset: { meaning: 'The amount arrives in another asset of the same network, where it does not count.' },
  refund_reorged: {
    meaning:
      'A chain reorganisation removes the payout of the newest completed refund. In the sandbox, the payout is mined again after 10 seconds.',
  },
} as const satisfies Readonly<Record<string, SimulationRow>>;

export type Simulation = keyof typeof ROWS;

export const SIMULATIONS = Object.keys(ROWS) as readonly Simulation[];
export const STAGED_SIMULATIONS: readonly Simulation[] = SIMULATIONS.filter((one) => 'isStaged' in ROWS[one]);

export function meaningOfSimulation(simulation: Simulation): string {
  return ROWS[simulation].meaning;
}

/** The longest stage, in seconds: nobody watches for longer. */
export const MAX_STAGE_SECONDS = 600;

/** `only_asset`: nothing but the quote's asset exists on its network. */
export type SimulationRefusal = 'not_open' | 'only_asset' | 'no_completed_refund';

/** Why this outcome cannot be simulated for a test payment in its present state; null if it can. */
export function simulationRefusal(
  { status, quote, exception }: Payment,
  simulation: Simulation,
  hasCompletedRefund: boolean,
): SimulationRefusal | null {
  const unless = (isPossible: boolean) => (isPossible ? null : 'not_open');
  switch (simulation) {
    case 'refund_reorged':
      return hasCompletedRefund ? null : 'no_completed_refund';
    case 'wrong_asset':
      if (quote === null) return unless(isOpen(status));
      return allTokens().some((token) => isOtherAsset(token, quote)) ? null : 'only_asset';
    case 'reorged':
      return unless(isOpen(status) || isCounting(status) || (status === 'completed' && exception !== 'reorged'));
    // Unconfirmed money alone can be replaced or fail to confirm, and only a payment that waits can expire.
    case 'replaced':
    case 'failed':
    case 'expired':
    case 'confirming':
      return unless(isOpen(status) || status === 'processing');
    // While its money counts, all of it is there, in time.
    case 'part':
    case 'late':
      return unless(isOpen(status) || (quote !== null && !isCounting(status)));
    case 'paid':
    case 'over':
      return unless(isOpen(status) || quote !== null);
  }
}

export function possibleSimulations(payment: Payment, hasCompletedRefund: boolean): readonly Simulation[] {
  return SIMULATIONS.filter((one) => simulationRefusal(payment, one, hasCompletedRefund) === null);
}

type Token = Pick<NonNullable<Payment['quote']>, 'asset' | 'network'>;

/** Whether a token is another one on the same network, and so can arrive at the same address. */
export function isOtherAsset(token: Token, { asset, network }: Token): boolean {
  return token.network === network && token.asset !== asset;
}
