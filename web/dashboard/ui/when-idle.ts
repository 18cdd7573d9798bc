import { useEffect } from 'react';

const SOON_MS = 1_500;

/** Preloads code once the browser is idle. */
export function useWhenIdle(load: () => Promise<unknown>): void {
  useEffect(() => {
    // A failure is reported when the code is needed and loaded again.
    const start = (): void => void load().catch(() => {});
    if (typeof requestIdleCallback === 'function') {
      const handle = requestIdleCallback(start, { timeout: SOON_MS });
      return () => cancelIdleCallback(handle);
    }
    const timer = setTimeout(start, SOON_MS);
    return () => clearTimeout(timer);
    // `load` never changes.
  }, []);
}
