import { backOffMs, pollDelayMs } from './timing.ts';

/** A request for the page that takes longer than this counts as failed. */
const PATIENCE_MS = 10_000;
/** How far an event may lag behind the page; a stream that is later than that is held back by something. */
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

/**
 * Keeps the page up to date while somebody sees it: by its event stream and, until the payment is completed, by polling
 * where there is no working stream. Returns a function that polls at once.
 */
// oxlint-disable-next-line max-lines-per-function -- The stream and the polling beside it share one state.
export function keepLive(page: LivePage): () => void {
  let stream: EventSource | null = null;
  let streamWorks = false;
  let streamFailures = 0;
  let streamEvents = 0;
  let failures = 0;
  let asked = 0;
  let shown = 0;
  let underWay = 0;
  let askAgain: Cause | null = null;
  let pollTimer: ReturnType<typeof setTimeout> | undefined;
  let streamTimer: ReturnType<typeof setTimeout> | undefined;

  /** A completed payment stays so and is not polled; the stream reports its refunds. */
  const isOver = () => page.live().dataset['status'] === 'completed';

  const schedule = () => {
    clearTimeout(pollTimer);
    if (!document.hidden && !isOver())
      pollTimer = setTimeout(poll, pollDelayMs(streamWorks, failures, Math.random()), 'check');
  };

  const poll = async (cause: Cause) => {
    if (underWay >= MAX_REQUESTS) {
      askAgain = cause;
      return;
    }
    underWay += 1;
    asked += 1;
    const turn = asked;
    const eventsBefore = streamEvents;
    try {
      const { next, receivedAt } = await fetchPage(page.live().dataset['page'] ?? location.href);
      // A later request was answered earlier: this answer is outdated.
      if (turn > shown) {
        shown = turn;
        if (page.show(next, receivedAt) && cause === 'check') setTimeout(doubtStream, EVENT_LAG_MS, eventsBefore);
      }
      if (failures >= 2) page.onConnection(false);
      failures = 0;
    } catch {
      failures += 1;
      if (failures === 2) page.onConnection(true);
    }
    underWay -= 1;
    schedule();
    if (askAgain !== null) {
      const again = askAgain;
      askAgain = null;
      await poll(again);
    }
  };

  /** Polling found a change that the stream has not sent: proxies can hold back a stream that looks open. */
  const doubtStream = (eventsBefore: number) => {
    if (streamEvents !== eventsBefore || !streamWorks) return;
    streamWorks = false;
    schedule();
  };

  const open = () => {
    clearTimeout(streamTimer);
    const { stream: path, version = '' } = page.live().dataset;
    if (stream !== null || path === undefined || document.hidden) return;
    const url = new URL(path, location.href);
    url.searchParams.set('v', version);
    const source = new EventSource(url);
    stream = source;
    source.addEventListener('open', () => {
      streamWorks = true;
      // The stream may not repeat what happened while it was down.
      if (streamFailures > 0) void poll('check');
      streamFailures = 0;
      schedule();
    });
    source.addEventListener('changed', (event) => {
      streamWorks = true;
      streamEvents += 1;
      if (event.data !== page.live().dataset['version']) void poll('stream');
    });
    source.addEventListener('error', () => {
      streamFailures += 1;
      // Once, not at each of the browser's own attempts: they come faster than the pauses between requests.
      if (streamWorks) {
        streamWorks = false;
        schedule();
      }
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser has given up, as it does after an HTTP error.
      stream = null;
      streamTimer = setTimeout(open, backOffMs(streamFailures) * (0.8 + 0.4 * Math.random()));
    });
  };

  const close = () => {
    stream?.close();
    stream = null;
    streamWorks = false;
    clearTimeout(streamTimer);
    clearTimeout(pollTimer);
  };

  const comeBack = () => {
    open();
    if (!document.hidden) void poll('check');
  };
  // Browsers allow six connections to a host over HTTP/1.1: hidden tabs would leave none for the next one.
  document.addEventListener('visibilitychange', () => (document.hidden ? close() : comeBack()));
  addEventListener('online', comeBack);
  // An open stream would keep the page out of the browser's history cache.
  addEventListener('pagehide', close);
  addEventListener('pageshow', (event) => {
    if (event.persisted) comeBack();
  });
  open();
  schedule();
  return () => void poll('check');
}

async function fetchPage(path: string): Promise<{ readonly next: Document; readonly receivedAt: number }> {
  const answer = await fetch(path, { cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS) });
  const receivedAt = Date.now();
  if (!answer.ok) throw new Error(`the page answered ${answer.status}`);
  return { next: new DOMParser().parseFromString(await answer.text(), 'text/html'), receivedAt };
}
