import { createStream } from './stream.ts';
import { pollDelayMs } from './timing.ts';

/** A request for the page that takes longer than this counts as failed. */
const PATIENCE_MS = 10_000;
/** How far an event may lag behind the page; a stream that lags more is held back on the way. */
const EVENT_LAG_MS = 3_000;
/**
 * On slow connections an older answer may be shown while a newer one is on its way; more than two requests gain
 * nothing.
 */
const MAX_REQUESTS = 2;

export interface LivePage {
  /** The current `#live`. */
  live(): HTMLElement;
  /** Shows a page that was requested; true if it differs. Throws if it is not the page of this payment. */
  show(next: Document, receivedAt: number): boolean;
  /** Called when two requests in a row failed, and when one succeeds again. */
  onConnection(isLost: boolean): void;
}

type Cause = 'stream' | 'check';

export interface Follower {
  /** Requests the page at once. */
  poll(): void;
  /** Marks the requests under way as outdated, because the page shows a newer answer. */
  outdate(): void;
  /** Reports that the connection was lost, until an answer comes. */
  lose(): void;
}

/**
 * Keeps the page up to date while somebody sees it: by its event stream and, until the payment is completed, by polling
 * if there is no working stream.
 */
export function keepLive(page: LivePage): Follower {
  let failures = 0;
  let asked = 0;
  let shown = 0;
  let underWay = 0;
  let askAgain: Cause | null = null;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;

  const setLost = whenChanged((isLost) => page.onConnection(isLost));

  const schedule = () => {
    clearTimeout(pollTimer);
    if (document.hidden || isOver(page.live())) return;
    // A stream sends nothing while the database does not answer.
    const works = stream.works() && !isStale(page.live());
    pollTimer = setTimeout(poll, pollDelayMs(works, failures, Math.random()), 'check');
  };

  const poll = async (cause: Cause) => {
    if (underWay >= MAX_REQUESTS) {
      askAgain = cause;
      return;
    }
    underWay += 1;
    asked += 1;
    const turn = asked;
    const eventsBefore = stream.events();
    try {
      const { next, receivedAt } = await fetchPage(page.live().dataset['page'] ?? location.href);
      // A later request was answered earlier: this answer is outdated.
      if (turn > shown) {
        shown = turn;
        if (page.show(next, receivedAt) && cause === 'check') setTimeout(stream.doubt, EVENT_LAG_MS, eventsBefore);
      }
      failures = 0;
      setLost(false);
    } catch {
      failures += 1;
      if (failures >= 2) setLost(true);
    }
    underWay -= 1;
    schedule();
    if (askAgain !== null) {
      const again = askAgain;
      askAgain = null;
      await poll(again);
    }
  };

  const stream = createStream(() => page.live(), {
    onNews: () => void poll('stream'),
    onBack: () => void poll('check'),
    onState: schedule,
  });
  const comeBack = () => {
    stream.open();
    if (!document.hidden) void poll('check');
  };
  whileLookedAt(comeBack, () => {
    stream.close();
    clearTimeout(pollTimer);
  });
  // The browser knows at once; requests would fail only one after the other.
  addEventListener('offline', () => setLost(true));
  stream.open();
  schedule();
  return { poll: () => void poll('check'), outdate: () => (shown = asked), lose: () => setLost(true) };
}

function whenChanged(tell: (isLost: boolean) => void): (isLost: boolean) => void {
  let last = false;
  return (isLost) => {
    if (isLost !== last) tell(isLost);
    last = isLost;
  };
}

/** A completed payment stays so and is not polled; the stream reports its refunds. */
function isOver(live: HTMLElement): boolean {
  return live.dataset['status'] === 'completed' && !isStale(live);
}

/** Whether the page's content is older, because the service's database does not answer. */
function isStale(live: HTMLElement): boolean {
  return live.dataset['stale'] !== undefined;
}

function whileLookedAt(comeBack: () => void, close: () => void): void {
  // Browsers allow six connections to a host over HTTP/1.1: hidden tabs would leave none for the next one.
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : comeBack()));
  addEventListener('online', comeBack);
  // An open stream would keep the page out of the browser's history cache.
  addEventListener('pagehide', close);
  addEventListener('pageshow', (event) => {
    if (event.persisted) comeBack();
  });
}

async function fetchPage(path: string): Promise<{ readonly next: Document; readonly receivedAt: number }> {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
  const receivedAt = Date.now();
  const next = new DOMParser().parseFromString(await answer.text(), 'text/html');
  const live = next.getElementById('live');
  // A page with the last known state has an error status, but must be shown.
  if (!answer.ok && (live === null || !isStale(live))) throw new Error(`the page answered ${answer.status}`);
  return { next, receivedAt };
}
