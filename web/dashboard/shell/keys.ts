import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { isPlainKey } from '../ui/plain-key.ts';
import type { Overlay } from './overlays.tsx';
import { pagesFor } from './pages.ts';

interface Overlays {
  readonly open: (overlay: Overlay) => void;
  readonly isOpen: boolean;
}

/** How long after `g` the key of a page may follow. */
const SEQUENCE_MS = 1_500;

/** The keys that work on every page, except while somebody types. Those for rows are in `ui/row-keys.ts`. */
export function useKeys(scope: Scope | null, { open, isOpen }: Overlays): void {
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
