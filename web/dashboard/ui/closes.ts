import type { RefObject } from 'react';

interface Details {
  readonly event: Event;
}

/** Tells when something that opened at a button closes, but where the button was pressed: that closes by itself. */
export function closes(anchor: RefObject<HTMLElement | null>, onClose: () => void) {
  return (isOpen: boolean, { event }: Details): void => {
    const target = event.target instanceof Node ? event.target : null;
    const isOnButton = event.type !== 'keydown' && anchor.current?.contains(target) === true;
    if (!isOpen && !isOnButton) onClose();
  };
}
