import type { DueDelivery } from '../../store/webhooks/deliveries.ts';

export const MAX_HELD = 5_000;
/** The size of the largest claim. Nothing is claimed while there is no room for that many. */
export const MAX_CLAIMED = 500;

/** The deliveries held by this process. `onFree` is called when there is room for a whole claim again. */
export function createHeldDeliveries(onFree: () => void) {
  const open = new Set<bigint>();
  let recording = 0;
  let idleListeners: (() => void)[] = [];
  const isFull = (): boolean => open.size + recording + MAX_CLAIMED > MAX_HELD;
  const isIdle = (): boolean => open.size + recording === 0;
  const change = (apply: () => void): void => {
    const wasFull = isFull();
    apply();
    if (wasFull && !isFull()) onFree();
    if (isIdle()) for (const listener of idleListeners.splice(0)) listener();
  };
  return {
    isFull,
    /** Adds those that are not already waiting or being sent. */
    take: (deliveries: readonly DueDelivery[]): readonly DueDelivery[] => {
      const taken = deliveries.filter(({ id }) => !open.has(id));
      for (const { id } of taken) open.add(id);
      return taken;
    },
    release: (deliveries: readonly DueDelivery[]): void =>
      change(() => {
        for (const { id } of deliveries) open.delete(id);
      }),
    /**
     * It was sent. As soon as its record is committed it may be claimed again, which may be notified before the commit
     * returns.
     */
    startRecording: ({ id }: DueDelivery): void => {
      open.delete(id);
      recording += 1;
    },
    endRecording: (): void => change(() => (recording -= 1)),
    idle: (): Promise<void> => (isIdle() ? Promise.resolve() : new Promise((resolve) => idleListeners.push(resolve))),
  };
}
