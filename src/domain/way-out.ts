import type { Network } from './networks.ts';

/** The remedy after a refusal if it takes a command, whose name only callers know. */
export type WayOut =
  /** Set a wallet of the project and the settings of a node; network null: any. */
  | {
      readonly kind: 'set_up';
      readonly projectId: string;
      readonly network: Network | null;
      readonly settings: string;
    }
  | { readonly kind: 'set_wallet' }
  | { readonly kind: 'network_status' };

/** A refusal in words; `wayOut` ends them. */
export interface Refusal {
  readonly message: string;
  readonly wayOut?: WayOut;
}
