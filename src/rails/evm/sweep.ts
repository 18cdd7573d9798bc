import { toChecksumAddress } from './address.ts';
import {
  DEPOSIT_FACTORY,
  depositAddress,
  DETERMINISTIC_DEPLOYER,
  parseTreasury,
  type DepositFactoryFacts,
} from './deposit.ts';

/** What lies on one deposit address. */
export interface FilledDeposit {
  readonly index: number;
  readonly address: string;
  readonly balances: readonly DepositBalance[];
}

export interface DepositBalance {
  /** The token's contract; null for the chain's own coin. */
  readonly token: string | null;
  /** In the smallest unit. */
  readonly units: bigint;
}

export interface SweepRequest {
  readonly treasury: string;
  readonly deposits: readonly FilledDeposit[];
  /** The one that all these deposits are of; the present one unless said otherwise. */
  readonly factory?: DepositFactoryFacts;
  /** Whether there is code at the factory's address on this chain. */
  readonly factoryDeployed: boolean;
  /** How many deposits one call empties at most; fewer where they would need too much gas. */
  readonly maxPerCall?: number;
}

/** One transaction, to be sent in the order of the plan, with no value, by anyone who pays its gas. */
export interface SweepCall {
  readonly purpose: 'deploy_factory' | 'sweep';
  readonly to: string;
  /** Call data: `0x` and hex digits. */
  readonly data: string;
  /** The deposits that it empties; none for the factory. */
  readonly indexes: readonly number[];
  /** What it empties them of; null for the chain's own coin. */
  readonly tokens: readonly (string | null)[];
  /** What it will use, rather more than less. */
  readonly gasEstimate: bigint;
  /**
   * A limit that is enough, except on Arbitrum, where the price of data is counted in gas too: there the node's own
   * estimate is.
   */
  readonly gasLimit: bigint;
}

export interface SweepPlan {
  readonly calls: readonly SweepCall[];
}

/**
 * Networks of the EVM family let one transaction have 16,777,216 gas (EIP-7825); a call this large still finds its
 * place in a block soon.
 */
export const MAX_CALL_GAS = 10_000_000n;
const DEFAULT_MAX_PER_CALL = 100;

/** Measured on a node (contracts/README.md), rounded up; tokens in use today take more than the test's plain one. */
const GAS = {
  /** The first coins of a treasury that holds none make its account. */
  newAccount: 25_000n,
  deployFactory: 1_100_000n,
  call: 32_000n,
  clone: 52_000n,
  coinPayout: 12_000n,
  tokenPayout: 40_000n,
  /** The factory calls on only while as much is left as one payout may use at most; what is not used is not paid. */
  headroom: 320_000n,
};

/** `sweep(address,uint256[],address[])` of contracts/DepositFactory.sol. */
const SWEEP_SELECTOR = '0x3d105d84';
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/**
 * The transactions that bring what lies on a treasury's deposits to that treasury: the factory's deployment where it is
 * missing, then as few calls as fit `maxPerCall` and `MAX_CALL_GAS`. Deposits with the same tokens go together, so that
 * no call looks for a token where none is. Balances of zero are left out. Throws RangeError for a deposit that is not
 * the treasury's at this factory.
 */
export function planSweep(request: SweepRequest): SweepPlan {
  const { treasury, deposits, factory = DEPOSIT_FACTORY, factoryDeployed, maxPerCall = DEFAULT_MAX_PER_CALL } = request;
  if (!Number.isInteger(maxPerCall) || maxPerCall < 1) throw new RangeError('maxPerCall is a positive integer');
  checkAddresses(treasury, deposits, factory);
  const sweeps = groupByTokens(deposits).flatMap(({ tokens, indexes }) =>
    inParts(indexes, Math.min(maxPerCall, mostWithinGas(tokens))).map((part) =>
      sweepCall(factory, treasury, part, tokens),
    ),
  );
  return { calls: sweeps.length > 0 && !factoryDeployed ? [deployCall(factory), ...sweeps] : sweeps };
}

/** The deterministic deployer takes the salt and the init code, one after the other. */
function deployCall(factory: DepositFactoryFacts): SweepCall {
  return {
    purpose: 'deploy_factory',
    to: DETERMINISTIC_DEPLOYER,
    data: `${factory.salt}${factory.initCode.slice(2)}`,
    indexes: [],
    tokens: [],
    gasEstimate: GAS.deployFactory,
    gasLimit: withReserve(GAS.deployFactory),
  };
}

function sweepCall(
  factory: DepositFactoryFacts,
  treasury: string,
  indexes: readonly number[],
  tokens: readonly (string | null)[],
): SweepCall {
  const gasEstimate = sweepGas(indexes.length, tokens);
  return {
    purpose: 'sweep',
    to: factory.address,
    data: encodeSweep(treasury, indexes, tokens),
    indexes,
    tokens,
    gasEstimate,
    gasLimit: withReserve(gasEstimate) + GAS.headroom,
  };
}

function sweepGas(deposits: number, tokens: readonly (string | null)[]): bigint {
  const newAccount = tokens.includes(null) ? GAS.newAccount : 0n;
  return GAS.call + newAccount + BigInt(deposits) * gasPerDeposit(tokens);
}

function gasPerDeposit(tokens: readonly (string | null)[]): bigint {
  return tokens.reduce((sum, token) => sum + (token === null ? GAS.coinPayout : GAS.tokenPayout), GAS.clone);
}

function mostWithinGas(tokens: readonly (string | null)[]): number {
  const left = ((MAX_CALL_GAS - GAS.headroom) * 4n) / 5n - GAS.call - GAS.newAccount;
  return Math.max(1, Number(left / gasPerDeposit(tokens)));
}

/** A quarter more, for tokens that cost more than usual. */
function withReserve(gas: bigint): bigint {
  return (gas * 5n) / 4n;
}

interface TokenGroup {
  /** Without repetition, the chain's own coin first. */
  readonly tokens: readonly (string | null)[];
  readonly indexes: number[];
}

function groupByTokens(deposits: readonly FilledDeposit[]): readonly TokenGroup[] {
  const groups = new Map<string, TokenGroup>();
  for (const { index, balances } of deposits) {
    const addresses = balances
      .filter(({ units }) => units > 0n)
      .map(({ token }) => (token === null ? ZERO_ADDRESS : toChecksumAddress(token)));
    if (addresses.length === 0) continue;
    const sorted = [...new Set(addresses)].sort();
    const key = sorted.join();
    const tokens = sorted.map((address) => (address === ZERO_ADDRESS ? null : address));
    const group = groups.get(key) ?? { tokens, indexes: [] };
    group.indexes.push(index);
    groups.set(key, group);
  }
  return [...groups.values()];
}

/** A call for another treasury's deposit would find nothing, and its caller would pay for it. */
function checkAddresses(treasury: string, deposits: readonly FilledDeposit[], factory: DepositFactoryFacts): void {
  const check = parseTreasury(treasury);
  if (check.kind === 'invalid') throw new RangeError(check.message);
  for (const { index, address } of deposits) {
    if (depositAddress(check.treasury, index, factory) !== toChecksumAddress(address)) {
      throw new RangeError(`${address} is not deposit ${index} of the treasury ${check.treasury}`);
    }
  }
}

/**
 * The call data of the factory's `sweep`. Written by hand because it is words alone: the treasury, where the two arrays
 * begin, then each array's length and items.
 */
function encodeSweep(treasury: string, indexes: readonly number[], tokens: readonly (string | null)[]): string {
  const head = 3;
  const words = [
    addressWord(treasury),
    numberWord(head * 32),
    numberWord((head + 1 + indexes.length) * 32),
    numberWord(indexes.length),
    ...indexes.map(numberWord),
    numberWord(tokens.length),
    ...tokens.map((token) => addressWord(token ?? ZERO_ADDRESS)),
  ];
  return `${SWEEP_SELECTOR}${words.join('')}`;
}

function numberWord(value: number): string {
  return value.toString(16).padStart(64, '0');
}

function addressWord(address: string): string {
  return address.slice(2).toLowerCase().padStart(64, '0');
}

function inParts<T>(items: readonly T[], size: number): readonly (readonly T[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
