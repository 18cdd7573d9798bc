import { useEffect } from 'react';

const SOON_MS = 1_500;

/** Loads ahead what the person will want next, once nothing more urgent is to be done. */
export function useWhenIdle(load: () => Promise<unknown>): void {
  useEffect(() => {
    // Whoever needs it loads it again and tells of the fault.
    const start = (): void => void load().catch(() => {});
    if (typeof requestIdleCallback === 'function') {
      const handle = requestIdleCallback(start, { timeout: SOON_MS });
      return () => cancelIdleCallback(handle);
    }
    const timer = setTimeout(start, SOON_MS);
    return () => clearTimeout(timer);
    // `load` is one function of its module.
  }, []);
}
