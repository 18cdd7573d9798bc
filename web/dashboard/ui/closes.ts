import type { RefObject } from 'react';

interface Details {
  readonly event: Event;
}

/** Calls `onClose` when a popup closes, unless its own button was pressed, which closes it anyway. */
export function closes(anchor: RefObject<HTMLElement | null>, onClose: () => void) {
  return (isOpen: boolean, { event }: Details): void => {
    const target = event.target instanceof Node ? event.target : null;
    const isOnButton = event.type !== 'keydown' && anchor.current?.contains(target) === true;
    if (!isOpen && !isOnButton) onClose();
  };
}
