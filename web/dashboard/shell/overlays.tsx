import { lazy, Suspense } from 'react';
import type { Scope } from '../scope.ts';
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
    <Suspense>
      {overlay === 'palette' ? <Palette scope={scope} onClose={onClose} onHelp={() => open('help')} /> : null}
      {overlay === 'help' ? <HelpDialog onClose={onClose} /> : null}
    </Suspense>
  );
}
