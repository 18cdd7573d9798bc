import type { Network } from '../../domain/networks.ts';
import type { Payment } from '../../domain/payment.ts';
import { isCounting } from '../../domain/status.ts';
import type { PaymentSelector } from '../payments/change-payment.ts';
import type { PaymentReader } from '../payments/read-payment.ts';
import type { PaymentWatch } from './payment-watch.ts';
import type { ReadQueue } from './read-queue.ts';

const RETRY_MS = 1_000;
const MAX_RETRY_MS = 15_000;

export interface VersionStreamOptions {
  readonly reader: PaymentReader;
  readonly watch: PaymentWatch;
  /** A short text that changes exactly when the shown payment changes. */
  readonly versionOf: (payment: Payment) => string | Promise<string>;
  readonly selector: PaymentSelector;
  readonly queue: ReadQueue;
  readonly onVersion: (version: string) => void;
  readonly onFault: (error: unknown) => void;
}

export interface VersionStream {
  /** The payment's current version; null if there is no such payment. */
  read(): Promise<string | null>;
  /**
   * From now on reads the payment whenever it may have changed; at once if it may have changed since the stream was
   * created.
   */
  start(): void;
  stop(): void;
}

/**
 * The versions of one payment. It watches from its creation, so that no change between the first read and the start is
 * missed: in states `new` and `reading` a change is remembered, in `idle` it is read at once.
 */
export function createVersionStream(options: VersionStreamOptions): VersionStream {
  const { reader, watch, versionOf, selector, queue, onVersion, onFault } = options;
  let state: 'new' | 'idle' | 'reading' | 'stopped' = 'new';
  let hasChanged = false;
  let failures = 0;
  let retry: NodeJS.Timeout | undefined;
  let network: Network | null = null;

  const change = (): void => {
    if (state === 'idle') queue.add(readAgain);
    else hasChanged = true;
  };
  const idle = (): void => {
    if (state === 'stopped') return;
    state = 'idle';
    if (hasChanged) change();
  };
  let unwatch = watch.watch(selector.id, network, change);

  const read = async (): Promise<string | null> => {
    const payment = await reader.read(selector);
    if (payment === null) return null;
    const counting = countingNetwork(payment);
    if (counting !== network && state !== 'stopped') {
      network = counting;
      unwatch();
      unwatch = watch.watch(selector.id, network, change);
    }
    return versionOf(payment);
  };

  const readAgain = async (): Promise<void> => {
    if (state === 'stopped') return;
    state = 'reading';
    hasChanged = false;
    clearTimeout(retry);
    try {
      const version = await read();
      failures = 0;
      if (version !== null) onVersion(version);
    } catch (error) {
      onFault(error);
      // The answer may come after the stop.
      if (!isStopped()) retry = setTimeout(change, Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** failures));
      failures += 1;
    }
    idle();
  };
  const isStopped = (): boolean => state === 'stopped';

  return {
    read,
    start: idle,
    stop: () => {
      state = 'stopped';
      clearTimeout(retry);
      queue.remove(readAgain);
      unwatch();
    },
  };
}

/** The network whose blocks change the page: confirmations are shown while a payment is being confirmed. */
function countingNetwork({ status, quote }: Payment): Network | null {
  return isCounting(status) ? (quote?.network ?? null) : null;
}
