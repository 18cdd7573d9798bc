import { lazy, Suspense, useEffect, useRef } from 'react';
import { chosenLanguage } from '../locale.tsx';
import { loadTexts } from '../texts/load-texts.ts';
import { isPlainKey } from '../ui/keys.ts';
import { useWhenIdle } from '../lazy-page.tsx';
import type { AnyDialog, Command } from './commands.ts';
import type { Scope } from '../scope.ts';

const loadAll = () =>
  Promise.all([import('./palette.tsx'), import('./dialogs.tsx'), loadTexts(chosenLanguage(), 'palette')]);
const Palette = lazy(async () => ({ default: (await loadAll())[0].Palette }));
const HelpDialog = lazy(async () => ({ default: (await loadAll())[1].HelpDialog }));

/** Dialogs that open over any page: one of the shell's, or that of an action. */
export type Overlay = 'palette' | 'help' | { readonly Dialog: AnyDialog };

interface OverlaysProps {
  readonly commands: readonly Command[];
  readonly scope: Scope | null;
  readonly overlay: Overlay | null;
  readonly open: (overlay: Overlay) => void;
  readonly onClose: () => void;
}

/** Dialogs that open by a key, loaded once the page is idle. */
export function Overlays({ commands, scope, overlay, open, onClose }: OverlaysProps) {
  useWhenIdle(loadAll);
  const help = (): void => open('help');
  return (
    <Suspense fallback={<Opening />}>
      {overlay === 'palette' ? <Palette {...{ commands, scope, onClose }} onHelp={help} /> : null}
      {overlay === 'help' ? <HelpDialog commands={commands} onClose={onClose} /> : null}
      {typeof overlay === 'object' && overlay !== null ? <overlay.Dialog onClose={onClose} /> : null}
    </Suspense>
  );
}

/** Keys typed for a dialog that is still loading must not trigger shortcuts of the page. */
function Opening() {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (isPlainKey(event)) event.stopPropagation();
    };
    addEventListener('keydown', press, { capture: true });
    return () => removeEventListener('keydown', press, { capture: true });
  }, []);
  return null;
}

interface OpenOverlay {
  readonly open: (overlay: Overlay) => void;
  readonly isOpen: boolean;
}

/** How long after `g` or `n` the second key may follow. */
const SEQUENCE_MS = 1_500;

/** The keys that work on every page, except while somebody types. Those for rows are in `ui/keys.ts`. */
export function useKeys(commands: readonly Command[], overlay: OpenOverlay): void {
  // Read by the key itself: a key may come right after a dialog was closed, before effects ran.
  const latest = useRef({ commands, ...overlay });
  latest.current = { commands, ...overlay };
  const first = useRef({ key: '', at: -Infinity });
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { commands, open, isOpen } = latest.current;
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (isOpen || !isPlainKey(event)) return;
      const { key, timeStamp } = event;
      const before = timeStamp - first.current.at < SEQUENCE_MS ? first.current.key : '';
      const isFirst = before === '' && commands.some(({ keys }) => keys.startsWith(`${key} `));
      first.current = isFirst ? { key, at: timeStamp } : { key: '', at: -Infinity };
      const command = commands.find(({ keys }) => keys === `${before} ${key}`);
      if (command !== undefined) {
        command.run();
      } else if (key === '/') {
        const field = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (field === null) open('palette');
        else field.focus();
      } else if (key === '?') {
        open('help');
      } else {
        return;
      }
      event.preventDefault();
    };
    // Before the page's own keys: `g e` exports nothing.
    addEventListener('keydown', press, { capture: true });
    return () => removeEventListener('keydown', press, { capture: true });
  }, []);
}
