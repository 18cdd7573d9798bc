import type { BodyOf } from '../../../src/http/dashboard/contract.ts';
import { lastScope, type Scope } from '../scope.ts';
import type { SignedIn } from '../session.ts';

export type Charge = BodyOf<'POST /dashboard/api/projects/:project/:mode/till/sales'>;

/** A charge that has no answer yet. It is sent with the same key until it has one, so that it makes one sale. */
export interface PendingCharge extends Scope {
  /** The person who charged: another one's session would make another sale. */
  readonly person: string;
  readonly body: Charge;
}

/** The choices of this device, and the charge under way: they survive a reload and the end of a session. */
export interface TillMemory {
  readonly scope?: Scope;
  readonly currency?: string;
  /** `USDT/polygon`. */
  readonly coin?: string;
  readonly isMuted?: boolean;
  readonly pending?: PendingCharge | null;
}

const KEY = 'cointill.till';

export function recall(): TillMemory {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? '{}') as TillMemory;
  } catch {
    return {};
  }
}

export function remember(changes: TillMemory): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ ...recall(), ...changes }));
  } catch {
    // Without storage, everything lasts until the page is reloaded.
  }
}

/** The projects in which the person may use the till. */
export function tillProjects({ projects }: SignedIn): SignedIn['projects'] {
  return projects.filter(({ actions }) => actions.includes('use_till'));
}

/** The project and mode of the address, otherwise those last used here; null if the person may use no till. */
export function firstScope(session: SignedIn, search: URLSearchParams): Scope | null {
  const projects = tillProjects(session);
  const known = (scope: Scope | null | undefined): scope is Scope =>
    scope !== null && scope !== undefined && projects.some(({ id }) => id === scope.project);
  const [project, mode] = [search.get('project') ?? '', search.get('mode')];
  const inAddress: Scope | null = mode === 'test' || mode === 'live' ? { project, mode } : null;
  const last = lastScope(projects);
  // Owners begin with test payments; a cashier sells.
  const isCashier = !projects.some(({ id, actions }) => id === last?.project && actions.includes('read_payments'));
  const usual = last !== null && isCashier ? { ...last, mode: 'live' as const } : last;
  return [inAddress, recall().scope, usual].find(known) ?? null;
}

/** The open sale in the address, and the address for one: a reload, and a sign-in on the way, come back to it. */
export function saleInAddress(): string | null {
  return new URLSearchParams(location.search).get('sale');
}

export function showInAddress({ project, mode }: Scope, sale: string | null): void {
  const search = new URLSearchParams({ project, mode, ...(sale === null ? {} : { sale }) });
  history.replaceState(null, '', `/till?${search.toString()}`);
}
