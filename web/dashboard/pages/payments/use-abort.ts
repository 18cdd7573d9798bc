import { useEffect, useRef } from 'react';

/** What is under way, one at a time: beginning anew stops what was, and so does leaving the page. */
export function useAbort(): { readonly begin: () => AbortController; readonly stop: () => void } {
  const running = useRef<AbortController | null>(null);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);
  const begin = (): AbortController => {
    stop();
    running.current = new AbortController();
    return running.current;
  };
  return { begin, stop };
}
