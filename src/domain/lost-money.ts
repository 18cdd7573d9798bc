import type { Network } from './networks.ts';

/** Money on an address that was handed out during the hours that a restore lost. */
export interface LostMoney {
  readonly network: Network;
  /** The address in the form that customers see. */
  readonly address: string;
  /** The index of the address in its wallet. */
  readonly index: number;
  readonly amountUnits: bigint;
  readonly decimals: number;
  readonly asset: string;
  readonly transactionHash: string;
}
