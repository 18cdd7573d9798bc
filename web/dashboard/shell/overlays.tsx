import { lazy, Suspense, useEffect } from 'react';
import type { Scope } from '../scope.ts';
import { isPlainKey } from '../ui/plain-key.ts';
import { useWhenIdle } from '../ui/when-idle.ts';

const loadPalette = () => import('./palette.tsx');
const loadHelp = () => import('./help-dialog.tsx');
const Palette = lazy(async () => ({ default: (await loadPalette()).Palette }));
const HelpDialog = lazy(async () => ({ default: (await loadHelp()).HelpDialog }));
const loadAll = () => Promise.all([loadPalette(), loadHelp()]);

/** Dialogs that open over any page. */
export type Overlay = 'palette' | 'help';

interface OverlaysProps {
  readonly scope: Scope | null;
  readonly overlay: Overlay | null;
  readonly open: (overlay: Overlay) => void;
  readonly onClose: () => void;
}

/** Dialogs that open by a key, loaded once the page is idle. */
export function Overlays({ scope, overlay, open, onClose }: OverlaysProps) {
  useWhenIdle(loadAll);
  return (
    <Suspense fallback={<Opening />}>
      {overlay === 'palette' ? <Palette scope={scope} onClose={onClose} onHelp={() => open('help')} /> : null}
      {overlay === 'help' ? <HelpDialog onClose={onClose} /> : null}
    </Suspense>
  );
}

/** What is typed for a dialog that is still loading is meant for no shortcut of the page. */
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
