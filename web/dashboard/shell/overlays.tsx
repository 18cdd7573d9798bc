import { lazy, Suspense, useEffect, useRef } from 'react';
import { isPlainKey } from '../ui/keys.ts';
import { useWhenIdle } from '../lazy-page.tsx';
import { useNavigate } from '@tanstack/react-router';
import { useSignedIn } from '../session.ts';
import { pagesFor } from './pages.ts';
import type { Scope } from '../scope.ts';

const loadPalette = () => import('./palette.tsx');
const loadHelp = () => import('./dialogs.tsx');
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

/** How long after `g` the key of a page may follow. */
const SEQUENCE_MS = 1_500;

/** The keys that work on every page, except while somebody types. Those for rows are in `ui/row-keys.ts`. */
export function useKeys(scope: Scope | null, { open, isOpen }: OpenOverlay): void {
  const navigate = useNavigate();
  const session = useSignedIn();
  const project = session.projects.find(({ id }) => id === scope?.project);
  const wentAt = useRef(-Infinity);
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        open('palette');
        return;
      }
      if (isOpen || !isPlainKey(event)) return;
      const follows = event.timeStamp - wentAt.current < SEQUENCE_MS;
      wentAt.current = event.key === 'g' && !follows ? event.timeStamp : -Infinity;
      const page = follows
        ? (project ? pagesFor(project, session) : []).find(({ key }) => key === event.key)
        : undefined;
      if (page !== undefined && scope !== null) {
        void navigate({ to: page.to, params: scope });
      } else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>('main input[type=search]');
        if (field === null) open('palette');
        else field.focus();
      } else if (event.key === '?') {
        open('help');
      } else {
        return;
      }
      event.preventDefault();
    };
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, [scope?.project, scope?.mode, project, session, isOpen, open, navigate]);
}
