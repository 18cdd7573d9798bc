import type { DatabaseHandle } from './database.ts';
import { listeningSession, type ListeningSession, type Proof } from './listening-session.ts';

/** A silent connection counts as broken after this, well within the second in which a revoked key must stop working. */
const HEARTBEAT_MS = 250;
const SILENCE_MS = 800;
/** How long a new connection may take to listen and be proven: before that no heartbeat watches it. */
const LISTEN_MS = 5_000;

export interface KeptSessionOptions {
  /** A connection is proven again after this, because a pooler's settings may change. */
  readonly proofEveryMs: number;
  readonly onMessage: (payload: string) => void;
  /** Called after each connection: earlier notifications may have been missed, all later ones will arrive. */
  readonly onUp: () => void;
  readonly onDown: () => void;
  /** Called each time a notification to ourselves did not arrive on a listening connection. */
  readonly onWithheld: () => void;
}

/** A listening connection that is replaced when it breaks, as often as needed. */
export interface KeptSession {
  /** Whether every notification until less than a second ago has arrived, as proven by one to ourselves. */
  readonly healthy: () => boolean;
  readonly stop: () => Promise<void>;
}

/**
 * A connection counts only once a notification to ourselves, sent through the pool, has arrived on it: behind a pooler
 * that shares its sessions LISTEN succeeds, but nothing ever arrives.
 */
export function keepSession(handle: DatabaseHandle, options: KeptSessionOptions): KeptSession {
  let session: ListeningSession | null = null;
  /** A connection that is not proven yet. */
  let unproven: ListeningSession | null = null;
  let receivedUpTo = 0;
  let provenAt = 0;
  let isAsking = false;
  let isProving = false;
  let stopped = false;
  const healthy = (): boolean => session !== null && performance.now() - receivedUpTo < SILENCE_MS;

  const down = (): void => {
    if (session === null) return;
    const broken = session;
    session = null;
    options.onDown();
    void broken.end();
  };

  const connect = async (): Promise<void> => {
    const client = await handle.connect();
    const next = listeningSession(client, handle.db, options.onMessage);
    unproven = next;
    client.on('end', () => {
      if (session === next) down();
    });
    const first = await listenAndProve(next, () => stopped).finally(() => (unproven = null));
    if (first.proof === 'withheld') options.onWithheld();
    // Not waited for: a silent connection answers no goodbye.
    if (first.proof !== 'delivered' || stopped) return void next.end();
    [session, receivedUpTo, provenAt] = [next, first.receivedUpTo, performance.now()];
    options.onUp();
  };

  /** In addition to the heartbeat, which continues, because the pool may be slow to send the proof. */
  const proveAgain = async (proven: ListeningSession): Promise<void> => {
    isProving = true;
    const proof = await proven.prove().finally(() => (isProving = false));
    if (session !== proven) return;
    if (proof === 'delivered') provenAt = performance.now();
    if (proof !== 'withheld') return;
    options.onWithheld();
    down();
  };

  const beat = async (): Promise<void> => {
    if (stopped || isAsking) return healthy() ? undefined : down();
    isAsking = true;
    try {
      if (session === null) await connect();
      else receivedUpTo = await askedAt(session);
    } catch {
      down();
    } finally {
      isAsking = false;
    }
    if (session !== null && !isProving && performance.now() - provenAt > options.proofEveryMs) void proveAgain(session);
  };

  const timer = setInterval(() => void beat(), HEARTBEAT_MS);
  void beat();
  const stop = async (): Promise<void> => {
    stopped = true;
    clearInterval(timer);
    const last = session ?? unproven;
    session = null;
    await last?.end();
  };
  return { healthy, stop };
}

/** An answer proves that notifications sent before the query have arrived, not those sent after it. */
async function askedAt(session: ListeningSession): Promise<number> {
  const at = performance.now();
  await session.ask();
  return at;
}

/**
 * The connection's first proof, and the time up to which it has received everything. Throws, and ends the connection,
 * if it does not listen in time.
 */
async function listenAndProve(
  session: ListeningSession,
  isStopped: () => boolean,
): Promise<{ readonly proof: Proof; readonly receivedUpTo: number }> {
  const limit = setTimeout(() => void session.end(), LISTEN_MS);
  try {
    const receivedUpTo = performance.now();
    await session.listen();
    return { proof: isStopped() ? 'unknown' : await session.prove(), receivedUpTo };
  } catch (error) {
    void session.end();
    throw error;
  } finally {
    clearTimeout(limit);
  }
}
