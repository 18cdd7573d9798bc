import type { NamedDeposits } from '../chain.ts';
import { toChecksumAddress } from './address.ts';
import {
  DEPOSIT_FACTORY,
  depositAddress,
  DETERMINISTIC_DEPLOYER,
  FIRST_DEPOSIT_FACTORY,
  parseTreasury,
  type DepositFactoryFacts,
} from './deposit.ts';

/** The balances of one deposit address. */
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
  /** The factory of all these deposits; by default the current one. */
  readonly factory?: DepositFactoryFacts;
  /** Whether there is code at the factory's address on this chain. */
  readonly factoryDeployed: boolean;
  /** How many deposits one call empties at most; fewer if they would need too much gas. */
  readonly maxPerCall?: number;
}

/** One transaction, to be sent in the order of the plan and without value, by anyone who pays for its gas. */
export interface SweepCall {
  readonly purpose: 'deploy_factory' | 'sweep';
  readonly to: string;
  /** Call data: `0x` and hex digits. */
  readonly data: string;
  /** The deposits that it empties; none when it deploys the factory. */
  readonly indexes: readonly number[];
  /** The tokens it takes from them; null for the chain's own coin. */
  readonly tokens: readonly (string | null)[];
  /** The gas that it will use, rather overestimated. */
  readonly gasEstimate: bigint;
  /**
   * A sufficient limit, except on Arbitrum, where the price of data is counted in gas too: use the node's own estimate
   * there.
   */
  readonly gasLimit: bigint;
}

export interface SweepPlan {
  readonly calls: readonly SweepCall[];
}

/** EVM networks allow a transaction 16,777,216 gas (EIP-7825); a call of this size still gets into a block soon. */
export const MAX_CALL_GAS = 10_000_000n;
const DEFAULT_MAX_PER_CALL = 100;

/** Measured on a node (contracts/README.md) and rounded up; real tokens use more than the plain one in the test. */
const GAS = {
  /** The first coins of an empty treasury create its account. */
  newAccount: 25_000n,
  deployFactory: 1_100_000n,
  call: 32_000n,
  clone: 52_000n,
  coinPayout: 12_000n,
  tokenPayout: 40_000n,
  /**
   * The factory continues only while this much gas is left, the most that one payout may use; unused gas is not paid.
   */
  headroom: 320_000n,
};

/** `sweep(address,uint256[],address[])` of contracts/DepositFactory.sol. */
const SWEEP_SELECTOR = '0x3d105d84';
/** `flush(address)` of contracts/Deposit.sol. */
const FLUSH_SELECTOR = '0x79c76e1a';
const ZERO_ADDRESS = `0x${'0'.repeat(40)}`;

/**
 * The transactions that pay the balances of a treasury's deposits to that treasury: the factory's deployment if it is
 * missing, then as few calls as fit `maxPerCall` and `MAX_CALL_GAS`. Deposits with the same tokens go together, so that
 * no call checks a token whose balance is zero. Balances of zero are left out. Throws RangeError for a deposit that
 * does not belong to the treasury at this factory.
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

/** The address of the factory that this call data of the deterministic deployer creates; null for other call data. */
export function deployedBy(data: string): string | null {
  const factories = [DEPOSIT_FACTORY, FIRST_DEPOSIT_FACTORY];
  return factories.find((factory) => deployData(factory) === data)?.address ?? null;
}

/** The deterministic deployer takes the salt followed by the init code. */
function deployData({ salt, initCode }: DepositFactoryFacts): string {
  return `${salt}${initCode.slice(2)}`;
}

function deployCall(factory: DepositFactoryFacts): SweepCall {
  return {
    purpose: 'deploy_factory',
    to: DETERMINISTIC_DEPLOYER,
    data: deployData(factory),
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

/** A quarter more, for tokens that use more than usual. */
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

/** A call for another treasury's deposit would find nothing, and its caller would pay for the gas. */
function checkAddresses(treasury: string, deposits: readonly FilledDeposit[], factory: DepositFactoryFacts): void {
  const check = parseTreasury(treasury);
  if (check.kind === 'invalid') throw new RangeError('The treasury is not an address that deposits can pay out to.');
  for (const { index, address } of deposits) {
    if (depositAddress(check.treasury, index, factory) !== toChecksumAddress(address)) {
      throw new RangeError(`${address} is not deposit ${index} of the treasury ${check.treasury}`);
    }
  }
}

/**
 * The call data of the factory's `sweep`. Encoded by hand because it consists of words only: the treasury, the offsets
 * of the two arrays, then each array's length and items.
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

/**
 * The calls of `sweep` anywhere in call data, because a contract wallet's transaction contains the call that it makes.
 * Calls do not overlap, so that nobody can make this slow.
 */
export function sweepsIn(data: string): readonly NamedDeposits[] {
  const selector = SWEEP_SELECTOR.slice(2);
  const calls: NamedDeposits[] = [];
  for (let at = data.indexOf(selector); at >= 0;) {
    const start = at + selector.length;
    const call = sweepAt(data, start);
    if (call !== null) calls.push(call.named);
    at = data.indexOf(selector, call?.end ?? start);
  }
  return calls;
}

/** The deposits that a call may flush: the called one, or any named beside the call of `flush`. */
export function flushesIn(to: string, data: string): readonly string[] {
  if (data.startsWith(FLUSH_SELECTOR)) return [to];
  if (!data.includes(FLUSH_SELECTOR.slice(2))) return [];
  return Array.from(data.matchAll(/0{24}([0-9a-f]{40})/gi), ([, address = '']) => `0x${address.toLowerCase()}`);
}

/** Reads the arguments of `sweep` from a position on. */
function sweepAt(data: string, start: number): { readonly named: NamedDeposits; readonly end: number } | null {
  const wordAt = (place: number): string => data.slice(start + place * 64, start + (place + 1) * 64);
  const numberAt = (place: number): number => {
    const word = wordAt(place);
    return /^[0-9a-f]{64}$/i.test(word) ? Number(BigInt(`0x${word}`)) : NaN;
  };
  const [treasury, at] = [wordAt(0), numberAt(1) / 32];
  if (!/^0{24}[0-9a-f]{40}$/i.test(treasury) || !Number.isSafeInteger(at)) return null;
  const count = numberAt(at);
  const end = start + (at + 1 + count) * 64;
  if (!(end <= data.length)) return null;
  const indexes = Array.from({ length: count }, (_, place) => numberAt(at + 1 + place));
  return { named: { treasury: `0x${treasury.slice(24).toLowerCase()}`, indexes }, end };
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
