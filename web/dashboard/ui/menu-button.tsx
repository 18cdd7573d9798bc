import { lazy, Suspense, useRef, useState, type ReactNode } from 'react';
import { useWhenIdle } from '../lazy-page.tsx';
import type { MenuItem } from './popup.tsx';

const load = () => import('./popup.tsx');
const MenuPopup = lazy(async () => ({ default: (await load()).MenuPopup }));

interface MenuButtonProps {
  /** The button's accessible name. */
  readonly label: string;
  readonly className?: string | undefined;
  readonly items: readonly MenuItem[];
  readonly children: ReactNode;
}

/**
 * A button with a menu. The menu's code is half as large as React, so it is loaded when the page is idle or clicked.
 */
export function MenuButton({ label, className, items, children }: MenuButtonProps) {
  const button = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  useWhenIdle(load);
  return (
    <>
      <button
        ref={button}
        type="button"
        className={className}
        aria-label={label}
        aria-haspopup="menu"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        onKeyDown={(event) => {
          if (event.key !== 'ArrowDown') return;
          event.preventDefault();
          setOpen(true);
        }}
      >
        {children}
      </button>
      <Suspense>
        {isOpen ? <MenuPopup label={label} anchor={button} items={items} onClose={() => setOpen(false)} /> : null}
      </Suspense>
    </>
  );
}
