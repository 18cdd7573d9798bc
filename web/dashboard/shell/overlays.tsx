import { lazy, Suspense } from 'react';
import type { Scope } from '../scope.ts';

const Palette = lazy(async () => ({ default: (await import('./palette.tsx')).Palette }));
const HelpDialog = lazy(async () => ({ default: (await import('./help-dialog.tsx')).HelpDialog }));

/** What opens over any page. */
export type Overlay = 'palette' | 'help';

interface OverlaysProps {
  readonly scope: Scope | null;
  readonly overlay: Overlay | null;
  readonly open: (overlay: Overlay) => void;
  readonly onClose: () => void;
}

/** What opens over any page by a key; it is loaded at its first use. */
export function Overlays({ scope, overlay, open, onClose }: OverlaysProps) {
  return (
    <Suspense>
      {overlay === 'palette' ? <Palette scope={scope} onClose={onClose} onHelp={() => open('help')} /> : null}
      {overlay === 'help' ? <HelpDialog onClose={onClose} /> : null}
    </Suspense>
  );
}
