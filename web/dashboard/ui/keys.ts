import { useEffect, useRef, type RefObject } from 'react';

const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], dialog';

/** Whether a key press is for the page, not for a field, a dialog, a menu or the browser. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof Element ? event.target : null;
  return target === null || target.closest(TAKES_KEYS) === null;
}

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
