import { Type, type Static } from 'typebox';
import { nullable } from '../../shapes.ts';

/** A transaction that a browser wallet can send; `value` in the coin's smallest unit, `data` as `0x` and hex. */
export const walletCallShape = Type.Object({
  chain_id: Type.Integer(),
  to: Type.String(),
  value: Type.String(),
  data: Type.String(),
});
export type WalletCall = Static<typeof walletCallShape>;

/** What a wallet needs to add a network (EIP-3085); null where none of it is known, such as for test chains. */
export const walletChainShape = nullable(
  Type.Object({
    name: Type.String(),
    currency: Type.String(),
    rpc_url: Type.String(),
    explorer_url: Type.String(),
  }),
);
export type WalletChain = Static<typeof walletChainShape>;
