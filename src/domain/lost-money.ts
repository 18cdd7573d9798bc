import type { Network } from './networks.ts';

/** Money on an address of the hours that a restore lost. */
export interface LostMoney {
  readonly network: Network;
  /** As customers are shown it. */
  readonly address: string;
  /** The number of the address in its wallet. */
  readonly index: number;
  readonly amountUnits: bigint;
  readonly decimals: number;
  readonly asset: string;
  readonly transactionHash: string;
}
