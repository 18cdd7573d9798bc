import { useEffect, useState } from 'react';
import { SESSION_KEY, useDashboard, type Access } from '../dashboard.ts';
import type { SessionProject, SignedIn } from '../session.ts';

/**
 * Keeps `dashboard.access` at what the person may do in the project of the address, and says how that differs from when
 * they opened it.
 *
 * @param id the project in the address; undefined on pages of none
 * @param project the same, if the person has a role in it
 */
export function useAccess(
  { person }: SignedIn,
  id: string | undefined,
  project: SessionProject | undefined,
): { readonly access: Access | null; readonly accept: () => void } {
  const { access: store } = useDashboard();
  const [opened, setOpened] = useState<SessionProject | null>(null);
  // Of a project in which they never had a role nothing is known.
  if (project !== undefined && opened?.id !== project.id) setOpened(project);
  const isOpened = opened !== null && opened.id === id;
  const role = project?.role ?? null;
  const actions = project === undefined ? [] : [...project.actions, ...person.actions];
  const access = isOpened ? { role, was: opened.role, actions } : null;
  useEffect(() => store.set(access), [store, isOpened, opened, project, person]);
  return { access, accept: () => project !== undefined && setOpened(project) };
}

/** How often a page without access asks whether there is access again: no stream says so. */
const EVERY_MS = 10_000;

/** Asks for the session again and again, and when the person comes back to the tab. */
export function useRecheck(isNeeded: boolean): void {
  const { refreshSession, queries } = useDashboard();
  useEffect(() => {
    if (!isNeeded) return undefined;
    const check = (): void => {
      if (document.visibilityState === 'visible') refreshSession();
    };
    const timer = setInterval(check, EVERY_MS);
    addEventListener('focus', check);
    document.addEventListener('visibilitychange', check);
    return () => {
      clearInterval(timer);
      removeEventListener('focus', check);
      document.removeEventListener('visibilitychange', check);
      // What was read before is of the former role, and no stream was there to say what changed.
      void queries.invalidateQueries({ predicate: ({ queryKey }) => queryKey[0] !== SESSION_KEY[0] });
    };
  }, [isNeeded, refreshSession, queries]);
}
