import { useEffect, useRef, useState, type RefObject } from 'react';
import { useScope } from '../../scope.ts';
import { isPlainKey } from '../../ui/keys.ts';

/** The chosen payments of a list, by id. */
export interface Selection {
  readonly chosen: ReadonlySet<string>;
  readonly choose: (ids: readonly string[], isChosen: boolean) => void;
  /** Chooses these alone. */
  readonly replace: (ids: readonly string[]) => void;
  readonly clear: () => void;
}

const NONE: ReadonlySet<string> = new Set();

/**
 * A selection, which is given up when the filters, project or mode change: nobody should act on what they do not see.
 *
 * @param filters the list's filters as a text
 */
export function useSelection(filters: string): Selection {
  const { project, mode } = useScope();
  const [chosen, set] = useState(NONE);
  useEffect(() => set(NONE), [filters, project, mode]);
  return {
    chosen,
    choose: (ids, isChosen) =>
      set((before) => {
        const after = new Set(before);
        for (const id of ids) {
          if (isChosen) after.add(id);
          else after.delete(id);
        }
        return after;
      }),
    replace: (ids) => set(new Set(ids)),
    clear: () => set(NONE),
  };
}

/** The key `x` chooses the focused row, or no longer. */
export function useChoiceKey(frame: RefObject<HTMLElement | null>, selection: Selection | undefined): void {
  const latest = useRef(selection);
  latest.current = selection;
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key !== 'x' || !isPlainKey(event)) return;
      const rows = [...(frame.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
      const id = rows.find((row) => row.contains(document.activeElement))?.dataset['row'];
      if (id === undefined) return;
      event.preventDefault();
      latest.current?.choose([id], !latest.current.chosen.has(id));
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [frame]);
}
