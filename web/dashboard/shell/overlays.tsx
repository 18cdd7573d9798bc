import { lazy, Suspense } from 'react';
import type { Scope } from '../scope.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const HelpDialog = lazy(async () => ({ default: (await import('./help-dialog.tsx')).HelpDialog }));

/** Dialogs that open over any page. */
export type Overlay = 'palette' | 'help';

interface OverlaysProps {
  readonly scope: Scope | null;
  readonly overlay: Overlay | null;
  readonly open: (overlay: Overlay) => void;
  readonly onClose: () => void;
}

/** Dialogs that open by a key, loaded on first use. */
export function Overlays({ scope, overlay, open, onClose }: OverlaysProps) {
  return (
    <Suspense>
      {overlay === 'palette' ? <Palette scope={scope} onClose={onClose} onHelp={() => open('help')} /> : null}
      {overlay === 'help' ? <HelpDialog onClose={onClose} /> : null}
    </Suspense>
  );
}
