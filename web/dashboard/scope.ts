import { useParams } from '@tanstack/react-router';
import type { SessionProject, SignedIn } from '../../src/http/dashboard/contract/account.ts';
import type { Mode } from '../../src/domain/permission.ts';

export type { Mode };

/** What a page shows: one project in one mode. Stands in the address, so that a link shows everybody the same. */
export interface Scope {
  readonly project: string;
  readonly mode: Mode;
}

const LAST = 'cointill.project';

/** The scope in the address; null on pages of the person. */
export function useScopeInAddress(): Scope | null {
  const { project, mode } = useParams({ strict: false });
  return project !== undefined && (mode === 'test' || mode === 'live') ? { project, mode } : null;
}

/** The scope of a page below a project. */
export function useScope(): Scope {
  const scope = useScopeInAddress();
  if (scope === null) throw new Error('There is no project in the address.');
  return scope;
}

/** Where a project opens: in test mode until its first live payment. */
export function firstMode(project: SessionProject): Mode {
  return project.has_live_payments ? 'live' : 'test';
}

/** Where the person was last on this device, else their first project; null for who has none. */
export function homeScope(session: SignedIn): Scope | null {
  const last = readLast();
  const known = session.projects.find(({ id }) => id === last?.project);
  if (known !== undefined && last !== null) return last;
  const [first] = session.projects;
  return first === undefined ? null : { project: first.id, mode: firstMode(first) };
}

export function rememberScope({ project, mode }: Scope): void {
  try {
    localStorage.setItem(LAST, `${project} ${mode}`);
  } catch {
    // A browser that keeps nothing begins with the first project.
  }
}

function readLast(): Scope | null {
  try {
    const [project, mode] = (localStorage.getItem(LAST) ?? '').split(' ');
    return project !== undefined && (mode === 'test' || mode === 'live') ? { project, mode } : null;
  } catch {
    return null;
  }
}
