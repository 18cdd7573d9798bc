import { decodeArray, decodeObject } from '../rpc/decode.ts';
import { NotKeptError } from '../rpc/node.ts';
import type { RpcPool } from '../rpc/pool.ts';
import {
  decodeAddress,
  decodeBytes,
  decodeHash,
  decodeNumber,
  decodeQuantity,
  encodeNumber,
  isQuantity,
  isStateGone,
  resultOf,
} from './decode.ts';
import { createTracer } from './internal.ts';
import { TRANSFER_TOPIC } from './logs.ts';

/** Tokens that left an address in a transaction, by the token's log; addresses in lower case. */
export interface TokenMove {
  readonly token: string;
  readonly from: string;
  readonly units: bigint;
}

/** The outcome of a mined transaction. */
export interface EvmReceipt {
  readonly succeeded: boolean;
  readonly height: number;
  readonly blockHash: string;
  /** In lower case. */
  readonly sender: string;
  readonly gasUsed: bigint;
  /** In wei, including a rollup's charge for data. */
  readonly feeUnits: bigint;
  readonly moves: readonly TokenMove[];
}

export interface EvmBlockTransaction {
  readonly hash: string;
  /** In lower case; null: it creates a contract. */
  readonly to: string | null;
  readonly data: string;
}

/** Reads single transactions and past states of a chain. Throws `ChainUnavailableError` if no node answers. */
export interface EvmReader {
  readonly head: () => Promise<number>;
  /** Null: there is no block of that height. `at` in epoch milliseconds. */
  readonly block: (height: number) => Promise<{
    readonly hash: string;
    readonly at: number;
    readonly transactions: readonly EvmBlockTransaction[];
  } | null>;
  /** Whether a node has the transaction, mined or not. */
  readonly knows: (hash: string) => Promise<boolean>;
  /** Null while it is not mined. */
  readonly receipt: (hash: string) => Promise<EvmReceipt | null>;
  /**
   * The balance of an address after a block, in a token or (null) in the chain's own coin. Most nodes keep the states
   * of the last 128 blocks only: null if every node says that it does not keep that state.
   */
  readonly balanceAt: (address: string, token: string | null, height: number) => Promise<bigint | null>;
  /**
   * The transactions of a block that took a token or (null) the chain's own coin from an address through a contract.
   * Null: the coin was requested, and no node traces the block.
   */
  readonly takenBy: (address: string, token: string | null, height: number) => Promise<readonly Taken[] | null>;
}

/** The money that a transaction took from an address. */
export interface Taken {
  readonly hash: string;
  readonly units: bigint;
}

export function createEvmReader(pool: RpcPool): EvmReader {
  const trace = createTracer(pool);
  return {
    head: () => pool.ask('eth_blockNumber', [], (answer) => decodeNumber(answer, 'the newest height')),
    block: (height) =>
      pool.ask('eth_getBlockByNumber', [encodeNumber(height), true], (answer) => {
        if (answer === null) return null;
        const { hash, timestamp, transactions } = decodeObject(answer, 'the block');
        return {
          hash: decodeHash(hash, 'block.hash'),
          at: decodeNumber(timestamp, 'block.timestamp') * 1_000,
          transactions: decodeArray(transactions, 'block.transactions').map(decodeTransaction),
        };
      }),
    knows: (hash) => pool.ask('eth_getTransactionByHash', [hash], (answer) => answer !== null),
    receipt: (hash) =>
      pool.ask('eth_getTransactionReceipt', [hash], (answer) => (answer === null ? null : decodeReceipt(answer))),
    balanceAt: async (address, token, height) => {
      try {
        return await pool.askAll([balanceCall(address, token, encodeNumber(height))], ([result]) => {
          if (result?.kind === 'error' && isStateGone(result)) throw new NotKeptError(result.error.message);
          return decodeQuantity(resultOf(result), 'the balance');
        });
      } catch (fault) {
        if (fault instanceof NotKeptError) return null;
        throw fault;
      }
    },
    takenBy: async (address, token, height) => {
      const from = address.toLowerCase();
      const at = encodeNumber(height);
      if (token === null) {
        const hash = await pool.ask('eth_getBlockByNumber', [at, false], (answer) =>
          answer === null ? null : decodeHash(decodeObject(answer, 'the block')['hash'], 'block.hash'),
        );
        const paid = hash === null ? null : await trace({ height, hash });
        return (
          paid && byTransaction(paid.filter((one) => one.from === from).map((one) => [one.transactionHash, one.amount]))
        );
      }
      const topics = [TRANSFER_TOPIC, `0x${from.slice(2).padStart(64, '0')}`];
      return pool.ask('eth_getLogs', [{ address: token, topics, fromBlock: at, toBlock: at }], (answer) =>
        byTransaction(
          decodeArray(answer, 'the logs').flatMap((entry) => {
            const log = decodeObject(entry, 'log');
            const move = decodeMove(log);
            return move === null
              ? []
              : [[decodeHash(log['transactionHash'], 'log.transactionHash'), move.units] as const];
          }),
        ),
      );
    },
  };
}

function byTransaction(moves: readonly (readonly [hash: string, units: bigint])[]): readonly Taken[] {
  return [...Map.groupBy(moves, ([hash]) => hash)].map(([hash, own]) => ({
    hash,
    units: own.reduce((sum, [, units]) => sum + units, 0n),
  }));
}

/** `balanceOf(address)` of ERC-20. */
const BALANCE_OF = '0x70a08231';

/** The call that requests a balance after a block, or at its tag. */
export function balanceCall(address: string, token: string | null, block = 'latest') {
  if (token === null) return { method: 'eth_getBalance', params: [address, block] };
  const data = BALANCE_OF + address.slice(2).toLowerCase().padStart(64, '0');
  return { method: 'eth_call', params: [{ to: token, data }, block] };
}

function decodeTransaction(entry: unknown): EvmBlockTransaction {
  const { hash, to, input } = decodeObject(entry, 'transaction');
  return {
    hash: decodeHash(hash, 'transaction.hash'),
    to: to === null || to === undefined ? null : decodeAddress(to, 'transaction.to'),
    data: decodeBytes(input, 'transaction.input'),
  };
}

function decodeReceipt(answer: unknown): EvmReceipt {
  const receipt = decodeObject(answer, 'the receipt');
  const gasUsed = decodeQuantity(receipt['gasUsed'], 'receipt.gasUsed');
  const price = receipt['effectiveGasPrice'];
  const dataFee = receipt['l1Fee'];
  return {
    succeeded: decodeQuantity(receipt['status'], 'receipt.status') === 1n,
    height: decodeNumber(receipt['blockNumber'], 'receipt.blockNumber'),
    blockHash: decodeHash(receipt['blockHash'], 'receipt.blockHash'),
    sender: decodeAddress(receipt['from'], 'receipt.from'),
    gasUsed,
    feeUnits: gasUsed * (isQuantity(price) ? BigInt(price) : 0n) + (isQuantity(dataFee) ? BigInt(dataFee) : 0n),
    moves: decodeArray(receipt['logs'], 'receipt.logs').flatMap((log) => {
      const move = decodeMove(decodeObject(log, 'log'));
      return move === null ? [] : [move];
    }),
  };
}

/** Null for any other log: its form is up to the contract. */
function decodeMove(log: Readonly<Record<string, unknown>>): TokenMove | null {
  const [topic, sender, , ...more] = decodeArray(log['topics'], 'log.topics');
  const { data } = log;
  if (topic !== TRANSFER_TOPIC || typeof sender !== 'string' || more.length > 0) return null;
  if (!/^0x0{24}[0-9a-fA-F]{40}$/.test(sender)) return null;
  if (typeof data !== 'string' || !/^0x[0-9a-fA-F]{64}$/.test(data)) return null;
  return {
    token: decodeAddress(log['address'], 'log.address'),
    from: `0x${sender.slice(-40).toLowerCase()}`,
    units: BigInt(data),
  };
}
