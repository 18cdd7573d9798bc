import { useParams } from '@tanstack/react-router';
import type { SessionProject, SignedIn } from '../../src/http/dashboard/account/contract.ts';
import type { Mode } from '../../src/domain/permission.ts';

export type { Mode };

/** The project and mode that a page shows. Part of the URL, so that a link shows the same to everybody. */
export interface Scope {
  readonly project: string;
  readonly mode: Mode;
}

const LAST = 'cointill.project';

/** The scope in the URL; null on pages that have none, such as the account. */
export function useScopeInAddress(): Scope | null {
  const { project, mode } = useParams({ strict: false });
  return project !== undefined && (mode === 'test' || mode === 'live') ? { project, mode } : null;
}

/** The scope of a page that has one. */
export function useScope(): Scope {
  const scope = useScopeInAddress();
  if (scope === null) throw new Error('There is no project in the address.');
  return scope;
}

/** A project opens in test mode until its first live payment. */
function firstMode(project: SessionProject): Mode {
  return project.has_live_payments ? 'live' : 'test';
}

/** The mode in which another project opens: whoever tests does not land among real payments. */
export function modeInOther(project: SessionProject, current: Scope | null): Mode {
  return current?.mode === 'test' ? 'test' : firstMode(project);
}

/** The scope of Home; null for people who may see no project's payments. */
export function homeScope({ projects }: SignedIn): Scope | null {
  return lastScope(projects.filter(({ actions }) => actions.includes('read_payments')));
}

/** The scope last used on this device, otherwise the first of these projects; null if there are none. */
export function lastScope(projects: SignedIn['projects']): Scope | null {
  const last = readLast();
  const known = projects.find(({ id }) => id === last?.project);
  if (known !== undefined && last !== null) return last;
  const [first] = projects;
  return first === undefined ? null : { project: first.id, mode: firstMode(first) };
}

export function rememberScope({ project, mode }: Scope): void {
  try {
    localStorage.setItem(LAST, `${project} ${mode}`);
  } catch {
    // Without storage, the first project opens.
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

/** Whether the person may use the till of any project. */
export function mayUseTill({ projects }: SignedIn): boolean {
  return projects.some(({ actions }) => actions.includes('use_till'));
}
