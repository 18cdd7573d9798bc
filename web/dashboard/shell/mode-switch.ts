import { useNavigate } from '@tanstack/react-router';
import type { Scope } from '../scope.ts';

/** Switches to the other mode's Home, because the current page's content does not exist there. */
export function useModeSwitch({ project, mode }: Scope): () => void {
  const navigate = useNavigate();
  return () => {
    void navigate({ to: '/projects/$project/$mode', params: { project, mode: mode === 'test' ? 'live' : 'test' } });
  };
}
