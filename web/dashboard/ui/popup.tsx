import { Menu } from '@base-ui/react/menu';
import { Fragment, type RefObject, type ReactNode } from 'react';
import { Icon, type IconName } from './icons.tsx';
import css from './popup.module.css';
import { Popover } from '@base-ui/react/popover';

export interface MenuItem {
  readonly key: string;
  readonly text: string;
  readonly icon?: IconName;
  /** Whether it is the current choice. */
  readonly isChosen?: boolean;
  /** Whether a separator precedes it. */
  readonly isApart?: boolean;
  readonly onChoose: () => void;
}

interface MenuPopupProps {
  readonly label: string;
  readonly anchor: RefObject<HTMLElement | null>;
  readonly items: readonly MenuItem[];
  readonly onClose: () => void;
}

/** A menu, open at its button. */
export function MenuPopup({ label, anchor, items, onClose }: MenuPopupProps) {
  return (
    <Menu.Root open onOpenChange={closes(anchor, onClose)}>
      {/* In a modal dialog, content outside of it is inert. */}
      <Menu.Portal container={anchor.current?.closest('dialog') ?? document.body}>
        <Menu.Positioner className={css.positioner} anchor={anchor} side="bottom" align="start" sideOffset={6}>
          <Menu.Popup className={css.popup} aria-label={label} finalFocus={anchor}>
            {items.map(({ key, text, icon, isChosen, isApart, onChoose }) => (
              <Fragment key={key}>
                {isApart === true ? <div className={css.line} role="separator" /> : null}
                <Menu.Item className={css.item} onClick={onChoose} {...(isChosen === true && { 'aria-current': true })}>
                  {icon === undefined ? null : <Icon name={icon} size={16} />}
                  <span>{text}</span>
                  {isChosen === true ? <Icon name="check" size={16} /> : null}
                </Menu.Item>
              </Fragment>
            ))}
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}

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

interface Details {
  readonly event: Event;
}

/** Calls `onClose` when a popup closes, unless its own button was pressed, which closes it anyway. */
function closes(anchor: RefObject<HTMLElement | null>, onClose: () => void) {
  return (isOpen: boolean, { event }: Details): void => {
    const target = event.target instanceof Node ? event.target : null;
    const isOnButton = event.type !== 'keydown' && anchor.current?.contains(target) === true;
    if (!isOpen && !isOnButton) onClose();
  };
}
