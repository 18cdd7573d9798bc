import { hash } from 'node:crypto';
import { bech32, bech32m, createBase58check } from '@scure/base';
import type { AssetCode } from '../../domain/asset-code.ts';
import type { ChainBlock, ChainTransfer } from '../chain.ts';
import { MalformedAnswerError } from '../rpc/decode.ts';
import type { UtxoAddressParams } from './params.ts';

/**
 * Decodes the serialised blocks and transactions of nodes. Everything is checked against its expected hash, so that
 * damaged, truncated or misread bytes are never taken for a block without payments. Throws `MalformedAnswerError`.
 */
export interface UtxoDecoder {
  /** A whole block in hex: `getblock` with verbosity 0. */
  block(hex: unknown, height: number, blockHash: string): ChainBlock;
  /** The outputs of one transaction in hex: `getrawtransaction`. */
  transfers(hex: unknown, transactionHash: string): readonly ChainTransfer[];
  /** The inputs of one transaction in hex, as `txid:vout`. */
  inputs(hex: unknown, transactionHash: string): readonly string[];
}

/** Litecoin's supply in its smallest unit, four times Bitcoin's. */
const MAX_AMOUNT = 84_000_000n * 100_000_000n;
const HEADER = { parentHash: 4, merkleRoot: 36, time: 68, length: 80 };
const HASH_BYTES = 32;
const OUTPOINT_BYTES = 36;
/** BIP 144: a zero byte in the place of the number of inputs, then these flags. */
const SEGWIT_MARKER = 0;
const WITNESS_FLAG = 1;
/** LIP 2 and 4: the transaction carries MWEB data, or is the HogEx, the last one of a block with an extension block. */
const MWEB_FLAG = 8;

/**
 * Reads raw bytes, because a node needs 55 ms to write a block of 4,000 outputs as JSON and 4 ms as hex; amounts stay
 * exact integers.
 */
export function createUtxoDecoder(asset: AssetCode, params: UtxoAddressParams): UtxoDecoder {
  const addressOf = createAddressEncoder(params);

  function collect({ outputs }: Transaction, transactionHash: string, transfers: ChainTransfer[]): void {
    outputs.forEach(({ amount, script }, index) => {
      const address = amount > 0n ? addressOf(script) : null;
      if (address !== null) transfers.push({ transactionHash, index, address, asset, amount });
    });
  }

  return {
    block: (hex, height, blockHash) => {
      const bytes = fromHex(hex, 'the block');
      const cursor: Cursor = { bytes, at: HEADER.length, what: 'the block' };
      const ids: Buffer[] = [];
      const transfers: ChainTransfer[] = [];
      let hasExtension = false;
      for (let left = readCount(cursor); left > 0; left -= 1) {
        const transaction = readTransaction(cursor);
        if (transaction.hasMweb) skipMwebOfHogEx(cursor);
        const id = transactionId(cursor, transaction, skip(cursor, 4));
        collect(transaction, reversedHex(id), transfers);
        ids.push(id);
        hasExtension = transaction.hasMweb;
      }
      // The bytes after the HogEx are the extension block, which pays nobody outside MWEB.
      if (cursor.at !== bytes.length && !hasExtension) throw new MalformedAnswerError('the block', 'a whole block');
      const header = bytes.subarray(0, HEADER.length);
      if (reversedHex(doubleSha256(header)) !== blockHash)
        throw new MalformedAnswerError('the block', 'the requested one');
      if (!merkleRoot(ids).equals(header.subarray(HEADER.merkleRoot, HEADER.time))) {
        throw new MalformedAnswerError('the list of transactions', 'the one that the block header commits to');
      }
      return {
        height,
        hash: blockHash,
        parentHash: reversedHex(header.subarray(HEADER.parentHash, HEADER.merkleRoot)),
        timeMs: header.readUInt32LE(HEADER.time) * 1_000,
        transfers,
      };
    },

    transfers: (hex, transactionHash) => {
      const { transaction } = readWhole(hex, transactionHash);
      const transfers: ChainTransfer[] = [];
      collect(transaction, transactionHash, transfers);
      return transfers;
    },

    inputs: (hex, transactionHash) => {
      const { bytes, transaction } = readWhole(hex, transactionHash);
      const cursor: Cursor = { bytes, at: transaction.body, what: 'the transaction' };
      return Array.from({ length: readCount(cursor) }, () => {
        const outpoint = skip(cursor, OUTPOINT_BYTES);
        skip(cursor, readCount(cursor));
        skip(cursor, 4);
        const txid = reversedHex(bytes.subarray(outpoint, outpoint + HASH_BYTES));
        return `${txid}:${bytes.readUInt32LE(outpoint + HASH_BYTES)}`;
      });
    },
  };
}

/** A transaction by itself, checked against its hash. */
function readWhole(
  hex: unknown,
  transactionHash: string,
): { readonly bytes: Buffer; readonly transaction: Transaction } {
  const bytes = fromHex(hex, 'the transaction');
  const cursor: Cursor = { bytes, at: 0, what: 'the transaction' };
  const transaction = readTransaction(cursor, { skipWitness: false });
  // A transaction within MWEB has no outputs outside; its hash is that of its kernel.
  if (transaction.outputs.length === 0) return { bytes, transaction };
  // Witnesses and MWEB data are between the outputs and the lock time, and are not hashed.
  const id = transactionId(cursor, transaction, Math.max(bytes.length - 4, cursor.at));
  if (reversedHex(id) !== transactionHash) throw new MalformedAnswerError('the transaction', 'the requested one');
  return { bytes, transaction };
}

interface Cursor {
  readonly bytes: Buffer;
  at: number;
  readonly what: string;
}

interface Transaction {
  readonly start: number;
  /** The start of the inputs and outputs, which are hashed. */
  readonly body: number;
  readonly bodyEnd: number;
  readonly isPlain: boolean;
  readonly hasMweb: boolean;
  readonly outputs: readonly { readonly amount: bigint; readonly script: Buffer }[];
}

/** Leaves the cursor after the witnesses, or before them. */
function readTransaction(cursor: Cursor, { skipWitness } = { skipWitness: true }): Transaction {
  const { bytes } = cursor;
  const start = skip(cursor, 4);
  const flags = bytes[cursor.at] === SEGWIT_MARKER ? bytes.readUInt8(skip(cursor, 2) + 1) : 0;
  const body = cursor.at;
  const inputs = readCount(cursor);
  for (let left = inputs; left > 0; left -= 1) {
    skip(cursor, OUTPOINT_BYTES);
    skip(cursor, readCount(cursor));
    skip(cursor, 4);
  }
  const outputs = [];
  for (let left = readCount(cursor); left > 0; left -= 1) {
    const amount = bytes.readBigUInt64LE(skip(cursor, 8));
    if (amount > MAX_AMOUNT) throw new MalformedAnswerError('an amount', 'within the supply');
    const length = readCount(cursor);
    const script = skip(cursor, length);
    outputs.push({ amount, script: bytes.subarray(script, script + length) });
  }
  const bodyEnd = cursor.at;
  if (skipWitness && flags & WITNESS_FLAG) {
    for (let left = inputs; left > 0; left -= 1) {
      for (let items = readCount(cursor); items > 0; items -= 1) skip(cursor, readCount(cursor));
    }
  }
  return { start, body, bodyEnd, isPlain: flags === 0, hasMweb: (flags & MWEB_FLAG) !== 0, outputs };
}

/**
 * Within a block only the HogEx has the flag, followed by the byte 0, because it carries no MWEB transaction itself.
 */
function skipMwebOfHogEx(cursor: Cursor): void {
  if (cursor.bytes.readUInt8(skip(cursor, 1)) !== 0) throw new MalformedAnswerError(cursor.what, 'without MWEB data');
}

/** The id in the order of the bytes, the reverse of its written form. `lockTime` is the position of its four bytes. */
function transactionId({ bytes }: Cursor, { start, body, bodyEnd, isPlain }: Transaction, lockTime: number): Buffer {
  if (isPlain) return doubleSha256(bytes.subarray(start, lockTime + 4));
  const hashed = [[start, start + 4] as const, [body, bodyEnd] as const, [lockTime, lockTime + 4] as const];
  return doubleSha256(Buffer.concat(hashed.map(([from, to]) => bytes.subarray(from, to))));
}

/** Moves the cursor forward and returns where it was. */
function skip(cursor: Cursor, length: number): number {
  const start = cursor.at;
  if (start + length > cursor.bytes.length) throw new MalformedAnswerError(cursor.what, 'complete');
  cursor.at = start + length;
  return start;
}

/** Bitcoin's `CompactSize`. A number that is too large for the rest of the bytes fails at their end. */
function readCount(cursor: Cursor): number {
  const { bytes } = cursor;
  const first = bytes.readUInt8(skip(cursor, 1));
  if (first < 0xfd) return first;
  if (first === 0xfd) return bytes.readUInt16LE(skip(cursor, 2));
  if (first === 0xfe) return bytes.readUInt32LE(skip(cursor, 4));
  return Number(bytes.readBigUInt64LE(skip(cursor, 8)));
}

/** Pairs are hashed row by row; the last of an odd row is paired with itself. */
function merkleRoot(ids: readonly Buffer[]): Buffer {
  let row = ids;
  while (row.length > 1) {
    const above: Buffer[] = [];
    for (let i = 0; i < row.length; i += 2) {
      const pair = row.slice(i, i + 2);
      above.push(doubleSha256(Buffer.concat(pair.length === 2 ? pair : [...pair, ...pair])));
    }
    row = above;
  }
  return row[0] ?? Buffer.alloc(HASH_BYTES);
}

type AddressEncoder = (script: Buffer) => string | null;

/** The address of an output that has one: P2PKH, P2SH, P2WPKH, P2WSH (BIP 141), P2TR (BIP 341); null for all others. */
function createAddressEncoder({ bech32: prefix, pubKeyHash, scriptHash }: UtxoAddressParams): AddressEncoder {
  const base58check = createBase58check(sha256);
  const inBase58 = (version: number, payload: Buffer): string =>
    base58check.encode(Buffer.concat([Buffer.of(version), payload]));

  return (script) => {
    const { length } = script;
    if (length === 25 && startsWith(script, 0x76, 0xa9, 20) && script[23] === 0x88 && script[24] === 0xac) {
      return inBase58(pubKeyHash, script.subarray(3, 23));
    }
    if (length === 23 && startsWith(script, 0xa9, 20) && script[22] === 0x87) {
      return inBase58(scriptHash, script.subarray(2, 22));
    }
    if ((length === 22 || length === 34) && startsWith(script, 0, length - 2)) {
      return bech32.encode(prefix, [0, ...bech32.toWords(script.subarray(2))]);
    }
    if (length === 34 && startsWith(script, 0x51, HASH_BYTES)) {
      return bech32m.encode(prefix, [1, ...bech32m.toWords(script.subarray(2))]);
    }
    return null;
  };
}

function startsWith(script: Buffer, ...bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => script[index] === byte);
}

function fromHex(hex: unknown, what: string): Buffer {
  const bytes = typeof hex === 'string' ? Buffer.from(hex, 'hex') : Buffer.alloc(0);
  // Decoding stops silently at the first character that is not hex.
  if (typeof hex !== 'string' || bytes.length * 2 !== hex.length) throw new MalformedAnswerError(what, 'hex');
  return bytes;
}

function reversedHex(bytes: Buffer): string {
  return Buffer.from(bytes.toReversed()).toString('hex');
}

function doubleSha256(bytes: Uint8Array): Buffer {
  return sha256(sha256(bytes));
}

function sha256(bytes: Uint8Array): Buffer {
  return hash('sha256', bytes, 'buffer');
}
