import { useEffect, useRef, useState, type RefObject } from 'react';

const TAKES_KEYS = 'input, textarea, select, [contenteditable], [role=dialog], [role=alertdialog], [role=menu], dialog';

/** Whether a key press is for the page, not for a field, a dialog, a menu or the browser. */
export function isPlainKey(event: KeyboardEvent): boolean {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return false;
  const target = event.target instanceof Element ? event.target : null;
  return target === null || target.closest(TAKES_KEYS) === null;
}

/** Whether there is room for a panel beside a list. On narrower screens it would cover the list. */
export function isWide(): boolean {
  return matchMedia('(width >= 64rem)').matches;
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
      const focused = links.findIndex((link) => link.contains(document.activeElement));
      // From the panel, the rows go on from the one that it shows.
      const at = focused >= 0 ? focused : links.findIndex((link) => link.closest('[aria-current=true]') !== null);
      const next = links[event.key === 'j' ? at + 1 : at === -1 ? 0 : at - 1];
      if (next === undefined) return;
      event.preventDefault();
      next.focus();
      next.closest('tr, li')?.scrollIntoView({ block: 'nearest' });
      moved.current(next.dataset['row'] ?? '');
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [frame]);
}

export interface PanelFocus {
  /** Opens the panel of a row; a press of a key, which is a click without a pointer, brings the focus into it. */
  readonly open: (id: string, event?: Pick<MouseEvent, 'detail'>) => void;
  /** Closes the panel, and brings the focus back to its row. */
  readonly close: () => void;
}

/**
 * Brings the focus into the panel of a row that was opened by a key, and back.
 *
 * @param shown the id of the row in the panel
 */
export function usePanelFocus(shown: string | undefined, onShow: (id: string | undefined) => void): PanelFocus {
  const [entered, enter] = useState<string | null>(null);
  useEffect(() => {
    if (entered !== null && entered === shown) document.querySelector<HTMLElement>('main aside')?.focus();
  }, [entered, shown]);
  return {
    open: (id, event) => {
      enter(event?.detail === 0 ? id : null);
      onShow(id);
    },
    close: () => {
      if (shown !== undefined) document.querySelector<HTMLElement>(`[data-row="${CSS.escape(shown)}"]`)?.focus();
      enter(null);
      onShow(undefined);
    },
  };
}
