import { Menu } from '@base-ui/react/menu';
import { Fragment, type RefObject } from 'react';
import { closes } from './closes.ts';
import { Icon, type IconName } from './icons.tsx';
import css from './popup.module.css';

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
