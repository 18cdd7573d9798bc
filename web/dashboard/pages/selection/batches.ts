import { useEffect, useRef, useState } from 'react';
import { useDashboard } from '../../dashboard.ts';

/** The answer to a batch: what changed, and what could not be changed. */
interface BatchAnswer<Item, Failure> {
  readonly changed: readonly Item[];
  readonly failed: readonly Failure[];
}

/** A change of many things, batch by batch. */
export interface Batches<Item, Failure> extends BatchAnswer<Item, Failure> {
  readonly total: number;
  /** How many were answered, whether or not they changed. */
  readonly done: number;
  readonly isRunning: boolean;
  /** The error that stopped it; null unless it can go on. */
  readonly error: unknown;
}

interface BatchRunner<Item, Failure> {
  /** Null before the first start, and once it was put away. */
  readonly run: Batches<Item, Failure> | null;
  readonly start: (items: readonly Item[], send: Send<Item, Failure>) => void;
  readonly stop: () => void;
  /** Goes on with what was not answered. */
  readonly goOn: () => void;
  readonly clear: () => void;
}

type Send<Item, Failure> = (items: readonly Item[]) => Promise<BatchAnswer<Item, Failure>>;

/**
 * Changes many things by one request after the other, so that no request holds others up; shows how far it is, can be
 * stopped, and goes on after a lost connection: a batch that is sent again changes nothing twice.
 */
export function useBatches<Item, Failure>(size: number): BatchRunner<Item, Failure> {
  const { unsaved } = useDashboard();
  const [run, set] = useState<Batches<Item, Failure> | null>(null);
  const work = useRef<{ readonly rest: readonly Item[]; readonly send: Send<Item, Failure> } | null>(null);
  const isStopped = useRef(false);
  useEffect(() => () => void (isStopped.current = true), []);
  const isRunning = run?.isRunning === true;
  useEffect(() => {
    // Leaving the page would end it half done, so the person is asked first.
    if (!isRunning) return undefined;
    unsaved.set(unsaved.get() + 1);
    return () => unsaved.set(Math.max(0, unsaved.get() - 1));
  }, [isRunning, unsaved]);
  const change = (by: Partial<Batches<Item, Failure>>): void => set((now) => now && { ...now, ...by });
  const goOn = async (): Promise<void> => {
    isStopped.current = false;
    change({ isRunning: true, error: null });
    while (work.current !== null && work.current.rest.length > 0 && !isStopped.current) {
      const { rest, send } = work.current;
      const batch = rest.slice(0, size);
      try {
        const { changed, failed } = await send(batch);
        work.current = { send, rest: rest.slice(size) };
        set(
          (now) =>
            now && {
              ...now,
              done: now.done + batch.length,
              changed: [...now.changed, ...changed],
              failed: [...now.failed, ...failed],
            },
        );
      } catch (error) {
        return change({ isRunning: false, error });
      }
    }
    change({ isRunning: false });
  };
  return {
    run,
    start: (items, send) => {
      work.current = { rest: items, send };
      set({ total: items.length, done: 0, changed: [], failed: [], isRunning: true, error: null });
      void goOn();
    },
    stop: () => void (isStopped.current = true),
    goOn: () => void goOn(),
    clear: () => set(null),
  };
}
