import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, concatBytes, hexToBytes } from '@noble/hashes/utils.js';
import artifact from '../../../contracts/artifact.json' with { type: 'json' };
import firstArtifact from '../../../contracts/v1/artifact.json' with { type: 'json' };
import { invalid, sentence, type Invalid } from '../../domain/sentence.ts';
import type { WalletDeriver } from '../chain.ts';
import type { SecretKind } from '../secret-key.ts';
import { parseEvmAddress, toChecksumAddress } from './address.ts';

/**
 * Arachnid's deterministic deployment proxy (https://github.com/Arachnid/deterministic-deployment-proxy): call data of
 * a salt and init code creates a contract whose address depends only on these two.
 */
export const DETERMINISTIC_DEPLOYER = '0x4e59b44847b379578588920cA78FbF26c0B4956C';

/** A factory of deposit contracts, with the same address on every chain. */
export interface DepositFactoryFacts {
  readonly address: string;
  /** The contract that the deposits are clones of. */
  readonly implementation: string;
  /** `0x` and 64 hex digits. */
  readonly salt: string;
  /** `0x` and hex digits. */
  readonly initCode: string;
}

const SALT = `0x${'0'.repeat(64)}`;

/** The factory of contracts/DepositFactory.sol, whose deposit addresses are handed out. */
export const DEPOSIT_FACTORY: DepositFactoryFacts = depositFactory(SALT, artifact.contracts.DepositFactory.initCode);

/**
 * The factory of contracts/v1/: its deposit addresses were handed out before, and are swept as long as money arrives
 * there.
 */
export const FIRST_DEPOSIT_FACTORY: DepositFactoryFacts = depositFactory(
  SALT,
  firstArtifact.contracts.DepositFactory.initCode,
);

export type TreasuryCheck =
  | { readonly kind: 'ok'; readonly treasury: string; readonly deriver: WalletDeriver }
  | Invalid;

const WAY_OUT = { wayOut: sentence('way_out_treasury') };

/**
 * Checks the address that deposits should pay out to; `treasury` and the deposits' addresses have EIP-55 checksums.
 * Private keys and recovery phrases are recognised first and refused. No fault repeats any part of the input.
 */
export function parseTreasury(text: string): TreasuryCheck {
  const trimmed = text.trim();
  const secret = secretKind(trimmed);
  if (secret) return invalid(secret, WAY_OUT);
  if (trimmed === '') return invalid('treasury_empty', WAY_OUT);
  if (/^[a-zA-Z]pub[1-9A-HJ-NP-Za-km-z]+$/.test(trimmed)) return invalid('treasury_is_key', WAY_OUT);
  const check = parseEvmAddress(trimmed);
  if (check.kind === 'invalid') return check;
  const deadEnd = deadEndOf(check.address);
  if (deadEnd) return invalid(deadEnd, WAY_OUT);
  return { kind: 'ok', treasury: check.address, deriver: depositDeriver(check.address) };
}

/**
 * The deposit address with this index (0 to 2^31 - 1) of a treasury, with its checksum: the same on every chain, and
 * payable before the contract exists. Throws RangeError for any other index or treasury.
 */
export function depositAddress(treasury: string, index: number, factory = DEPOSIT_FACTORY): string {
  return deriverOf(toChecksumAddress(treasury), factory).addressAt(index);
}

/**
 * The factory of an address that was handed out as a treasury's deposit with this index; null if no factory matches.
 */
export function factoryOf(treasury: string, index: number, address: string): DepositFactoryFacts | null {
  const given = toChecksumAddress(address);
  const factories = [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY];
  return factories.find((factory) => depositAddress(treasury, index, factory) === given) ?? null;
}

/** ERC-1167 with immutable arguments, as OpenZeppelin's Clones writes it: 45 bytes of proxy, then the treasury. */
const CLONE_CODE_LENGTH = 45 + 20;

/** Identified by its first address at the first factory, so that indexes continue from one factory to the other. */
function depositDeriver(treasury: string): WalletDeriver {
  const former = deriverOf(treasury, FIRST_DEPOSIT_FACTORY);
  return { ...deriverOf(treasury, DEPOSIT_FACTORY), former, identity: former.addressAt(0) };
}

function deriverOf(treasury: string, factory: DepositFactoryFacts): WalletDeriver {
  const length = CLONE_CODE_LENGTH.toString(16).padStart(4, '0');
  const implementation = factory.implementation.slice(2);
  const initCode = `61${length}3d81600a3d39f3363d3d373d3d3d363d73${implementation}5af43d82803e903d91602b57fd5bf3${treasury.slice(2)}`;
  const deployer = hexToBytes(factory.address.slice(2));
  const initCodeHash = keccak_256(hexToBytes(initCode));
  const addressAt = (index: number): string => {
    if (!Number.isInteger(index) || index < 0 || index >= 2 ** 31) {
      throw new RangeError(`a deposit's index is an integer from 0 to 2^31 - 1, not ${index}`);
    }
    const salt = new Uint8Array(32);
    new DataView(salt.buffer).setUint32(28, index);
    return create2Address(deployer, salt, initCodeHash);
  };
  return { addressAt };
}

/** Hashing kilobytes of code takes longer than most commands, so it is done only when an address is first needed. */
function depositFactory(salt: string, initCode: string): DepositFactoryFacts {
  let derived: string | undefined;
  const address = (): string => {
    derived ??= create2Address(
      hexToBytes(DETERMINISTIC_DEPLOYER.slice(2)),
      hexToBytes(salt.slice(2)),
      keccak_256(hexToBytes(initCode.slice(2))),
    );
    return derived;
  };
  let created: string | undefined;
  return {
    salt,
    initCode,
    get address() {
      return address();
    },
    get implementation() {
      return (created ??= firstCreatedBy(address()));
    },
  };
}

/** EIP-1014. */
function create2Address(deployer: Uint8Array, salt: Uint8Array, initCodeHash: Uint8Array): string {
  return addressOfHash(keccak_256(concatBytes(Uint8Array.of(0xff), deployer, salt, initCodeHash)));
}

/** The hash of the creator and its nonce in RLP; a contract's nonce starts at 1 (EIP-161). */
function firstCreatedBy(creator: string): string {
  return addressOfHash(
    keccak_256(concatBytes(Uint8Array.of(0xc0 + 22, 0x80 + 20), hexToBytes(creator.slice(2)), Uint8Array.of(1))),
  );
}

function addressOfHash(hash: Uint8Array): string {
  return toChecksumAddress(`0x${bytesToHex(hash.subarray(-20))}`);
}

/** Recognises a secret by its form, because a damaged private key is still private. Null for anything else. */
function secretKind(text: string): SecretKind | null {
  if (/(?:^|[^1-9A-HJ-NP-Za-km-z])[a-zA-Z](?:prv|tpv)[1-9A-HJ-NP-Za-km-z]/.test(text)) return 'secret_extended_key';
  if (/^(?:0x)?[0-9a-fA-F]{64}$/i.test(text)) return 'secret_key';
  if (/^[59KLTc6][1-9A-HJ-NP-Za-km-z]{50,51}$/.test(text)) return 'secret_key';
  if (text.split(/\s+/).length >= 12) return 'secret_phrase';
  return null;
}

/** Whether an address, with its EIP-55 checksum, is one of the contracts that create deposits. */
export function isDepositMachinery(address: string): boolean {
  const factories = [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY];
  const machinery = factories.flatMap(({ address: at, implementation }) => [at, implementation]);
  return address === DETERMINISTIC_DEPLOYER || machinery.includes(address);
}

/** Why money sent to this address could not be spent; null if no reason is known. */
function deadEndOf(address: string): 'treasury_reserved' | 'treasury_factory' | null {
  // The zero address, the chain's own contracts, and the usual burn addresses (0x…dEaD): nobody has their keys.
  if (/^0x0{32}/.test(address)) return 'treasury_reserved';
  return isDepositMachinery(address) ? 'treasury_factory' : null;
}
