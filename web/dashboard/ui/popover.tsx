import { Popover } from '@base-ui/react/popover';
import type { ReactNode, RefObject } from 'react';
import { closes } from './closes.ts';
import css from './popup.module.css';

interface PopoverPopupProps {
  readonly label: string;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A popover, open at its button. */
export function PopoverPopup({ label, anchor, onClose, children }: PopoverPopupProps) {
  return (
    <Popover.Root open onOpenChange={closes(anchor, onClose)}>
      <Popover.Portal>
        <Popover.Positioner className={css.positioner} anchor={anchor} side="bottom" align="end" sideOffset={6}>
          <Popover.Popup className={css.popup} aria-label={label} finalFocus={anchor}>
            {children}
          </Popover.Popup>
        </Popover.Positioner>
      </Popover.Portal>
    </Popover.Root>
  );
}
