import { useEffect, useRef, type RefObject } from 'react';
import { isPlainKey } from './plain-key.ts';

/** Moves between the rows of a list with `j` and `k`. Focuses the row's link, so that Enter opens it. */
export function useRowKeys(frame: RefObject<HTMLElement | null>, onMove: (id: string) => void): void {
  const moved = useRef(onMove);
  useEffect(() => {
    moved.current = onMove;
  });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.key !== 'j' && event.key !== 'k') || !isPlainKey(event)) return;
      const links = [...(frame.current?.querySelectorAll<HTMLElement>('[data-row]') ?? [])];
      const at = links.findIndex((link) => link.contains(document.activeElement));
      const next = links[event.key === 'j' ? at + 1 : at === -1 ? 0 : at - 1];
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
      next.closest('tr')?.scrollIntoView({ block: 'nearest' });
      moved.current(next.dataset['row'] ?? '');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [frame]);
}
