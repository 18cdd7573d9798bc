import type { EvmNetwork } from '../../domain/networks.ts';
import type { AddressCheck } from '../family.ts';
import { parseEvmAddress, toChecksumAddress } from './address.ts';
import { isDepositMachinery } from './deposit.ts';
import { EVM_TOKENS } from './tokens.ts';

/** The first 2^16 addresses: the zero address, the chains' own contracts, and room for more of them. */
const RESERVED_ADDRESS = /^0x0{36}/;

/**
 * Checks an address for a payout; refuses those that nobody has the key of. `contracts` are tokens' contracts in
 * addition to the well-known ones.
 */
export function checkEvmPayout(network: EvmNetwork, text: string, contracts: readonly string[]): AddressCheck {
  const checked = parseEvmAddress(text);
  if (checked.kind === 'invalid') return checked;
  const { address } = checked;
  const tokens = [...contracts, ...EVM_TOKENS[network].values().map(({ contract }) => contract)];
  const isToken = tokens.some((contract) => toChecksumAddress(contract) === address);
  const what = /^0x0{40}$/.test(address)
    ? 'the zero address'
    : RESERVED_ADDRESS.test(address)
      ? 'an address that is reserved for the chain itself'
      : isToken
        ? 'the contract of a token, not a wallet'
        : isDepositMachinery(address)
          ? 'a contract that makes deposits, not a wallet'
          : null;
  if (what === null) return checked;
  const message = `This is ${what}: whatever is sent there is lost. Give the address of your wallet.`;
  return { kind: 'invalid', message, deadEnd: true };
}
