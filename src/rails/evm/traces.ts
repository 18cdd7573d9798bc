import { decodeArray, decodeObject, MalformedAnswerError } from '../rpc/decode.ts';
import { decodeAddress, decodeHash, decodeQuantity } from './decode.ts';

/** Native coins that one call within a transaction moved and that were not reverted. */
export interface InternalPayment {
  readonly transactionHash: string;
  /**
   * Numbers the internal payments of the transaction from 0 in the order of their calls, for all recipients: the same
   * in both forms of traces.
   */
  readonly number: number;
  /** The payer, in lower case. */
  readonly from: string;
  /** The recipient, in lower case. */
  readonly address: string;
  /** In wei; never 0. */
  readonly amount: bigint;
}

type Fields = Readonly<Record<string, unknown>>;
type Payment = Omit<InternalPayment, 'transactionHash' | 'number'>;

/** DELEGATECALL and CALLCODE have a value that does not move. */
const PAYING_CALLS: readonly unknown[] = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];

/** Decodes what go-ethereum's `callTracer` returns for a whole block: one tree of calls per transaction. */
export function decodeCallTraces(answer: unknown): readonly InternalPayment[] {
  return decodeArray(answer, 'the traces').flatMap((entry) => {
    const { txHash, result } = { txHash: null, result: null, ...decodeObject(entry, 'trace') };
    const payments = paymentsBelow(decodeObject(result, 'trace.result'));
    return numbered(decodeHash(txHash, 'trace.txHash'), payments);
  });
}

/** A revert also undoes every call below it. */
function paymentsBelow(frame: Fields): readonly Payment[] {
  if (isFailed(frame)) return [];
  return decodeArray(frame['calls'] ?? [], 'trace.calls').flatMap((entry) => {
    const call = decodeObject(entry, 'trace.call');
    if (isFailed(call)) return [];
    const isPaying = PAYING_CALLS.includes(call['type']);
    return [...(isPaying ? paymentOf(call['from'], call['to'], call['value']) : []), ...paymentsBelow(call)];
  });
}

/**
 * Decodes `trace_block`, introduced by OpenEthereum and supported by Erigon, Nethermind, Reth and Besu: one list for
 * the block, each call with its position in the tree. Throws `MalformedAnswerError` if it belongs to another block than
 * the one with this hash.
 */
export function decodeParityTraces(answer: unknown, blockHash: string): readonly InternalPayment[] {
  const transactions = new Map<string, { readonly failed: string[]; readonly payments: Payment[] }>();
  for (const entry of decodeArray(answer, 'the traces')) {
    const trace = decodeObject(entry, 'trace');
    if (decodeHash(trace['blockHash'], 'trace.blockHash') !== blockHash) {
      throw new MalformedAnswerError('trace.blockHash', 'the requested block');
    }
    // Miners' rewards belong to no transaction.
    if ((trace['transactionHash'] ?? null) === null) continue;
    const hash = decodeHash(trace['transactionHash'], 'trace.transactionHash');
    const transaction = transactions.get(hash) ?? { failed: [], payments: [] };
    transactions.set(hash, transaction);
    const place = placeOf(trace);
    if (isFailed(trace)) transaction.failed.push(place);
    // A call is listed before those below it.
    const isTakenBack = transaction.failed.some((above) => place.startsWith(above));
    if (place !== '' && !isTakenBack) transaction.payments.push(...parityPayment(trace));
  }
  return [...transactions].flatMap(([hash, { payments }]) => numbered(hash, payments));
}

/** The path down to a call, such as `0/2/`; empty for the transaction itself. */
function placeOf(trace: Fields): string {
  return decodeArray(trace['traceAddress'], 'trace.traceAddress')
    .map((position) => `${String(position)}/`)
    .join('');
}

function parityPayment({ type, action, result }: Fields): readonly Payment[] {
  const fields = decodeObject(action, 'trace.action');
  switch (type) {
    case 'call':
      return fields['callType'] === 'call' ? paymentOf(fields['from'], fields['to'], fields['value']) : [];
    case 'create':
      return paymentOf(fields['from'], decodeObject(result, 'trace.result')['address'], fields['value']);
    case 'suicide':
    case 'selfdestruct':
      return paymentOf(fields['address'], fields['refundAddress'], fields['balance']);
    default:
      return [];
  }
}

/** Empty: no money moved, or sender and recipient are the same. */
function paymentOf(from: unknown, to: unknown, value: unknown): readonly Payment[] {
  const amount = decodeQuantity(value ?? '0x0', 'trace.value');
  if (amount === 0n) return [];
  const [payer, address] = [decodeAddress(from, 'trace.from'), decodeAddress(to, 'trace.to')];
  return payer === address ? [] : [{ from: payer, address, amount }];
}

function isFailed({ error }: Fields): boolean {
  return error !== undefined && error !== null && error !== '';
}

function numbered(transactionHash: string, payments: readonly Payment[]): readonly InternalPayment[] {
  return payments.map((payment, number) => ({ transactionHash, number, ...payment }));
}
