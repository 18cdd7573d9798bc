import { backOffMs } from './timing.ts';

/** The messages of the stream about the payment and about itself. */
export interface StreamEvents {
  /** The page is outdated. */
  readonly onNews: () => void;
  /** The stream works again after failures, but may not repeat what happened meanwhile. */
  readonly onBack: () => void;
  /** The stream has begun or stopped to work. */
  readonly onState: () => void;
}

/** The payment's event stream, which reports new versions of its page. */
export interface Stream {
  /** Opens it if it is closed, the page has one, and the page is visible. */
  readonly open: () => void;
  readonly close: () => void;
  readonly works: () => boolean;
  /** The number of events so far. */
  readonly events: () => number;
  /**
   * Called some time after polling found a change. If the stream has sent nothing since it had sent `eventsBefore`
   * events, it does not work: proxies can hold back a stream that looks open.
   */
  readonly doubt: (eventsBefore: number) => void;
}

/** `live` is the current `#live`. */
export function createStream(live: () => HTMLElement, { onNews, onBack, onState }: StreamEvents): Stream {
  let stream: EventSource | null = null;
  let works = false;
  let failures = 0;
  let events = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const fail = () => {
    if (!works) return;
    works = false;
    onState();
  };

  const open = () => {
    clearTimeout(timer);
    const { stream: path, version = '' } = live().dataset;
    if (stream !== null || path === undefined || document.hidden) return;
    const url = new URL(path, location.href);
    url.searchParams.set('v', version);
    const source = new EventSource(url);
    stream = source;
    source.addEventListener('open', () => {
      works = true;
      if (failures > 0) onBack();
      failures = 0;
      onState();
    });
    source.addEventListener('changed', (event) => {
      works = true;
      events += 1;
      if (event.data !== live().dataset['version']) onNews();
    });
    source.addEventListener('error', () => {
      failures += 1;
      // Called once, not at each of the browser's own attempts, which come faster than the pauses between requests.
      fail();
      if (source.readyState !== EventSource.CLOSED) return;
      // The browser has given up, as it does after an HTTP error.
      stream = null;
      timer = setTimeout(open, backOffMs(failures) * (0.8 + 0.4 * Math.random()));
    });
  };

  return {
    open,
    close: () => {
      stream?.close();
      stream = null;
      works = false;
      clearTimeout(timer);
    },
    works: () => works,
    events: () => events,
    doubt: (eventsBefore) => {
      if (events === eventsBefore) fail();
    },
  };
}
