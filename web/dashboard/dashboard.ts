import { QueryClient, replaceEqualDeep } from '@tanstack/react-query';
import { createContext, useContext, useSyncExternalStore } from 'react';
import type { SessionAnswer } from '../../src/http/dashboard/account/contract.ts';
import type { Action, Role } from '../../src/domain/role.ts';
import { foldedGroups, type PageGroup } from './shell/page-groups.ts';
import { ApiFault, createApi, isForbidden, readByKey, reads, type Api } from './api.ts';

export interface Toast {
  readonly id: number;
  /** `news`: a change made elsewhere. */
  readonly kind: 'good' | 'problem' | 'news';
  readonly text: string;
}

interface ReauthenticationRequest {
  /** Called once, with whether the person reauthenticated. */
  readonly done: (reauthenticated: boolean) => void;
}

/** The person's access to the project of the address. */
export interface Access {
  /** Null: the person has no role any more. */
  readonly role: Role | null;
  /** The role when they opened the project. */
  readonly was: Role;
  /** The actions in the project and, with any role there, on the service. */
  readonly actions: readonly Action[];
}

/** The state that all parts of one tab share. */
export interface Dashboard {
  readonly api: Api;
  readonly queries: QueryClient;
  /** Requests the session again, and opens the sign-in dialog if it has ended. */
  readonly refreshSession: () => void;
  /** Newest last. */
  readonly toasts: Store<readonly Toast[]>;
  readonly toast: (text: string, kind?: Toast['kind']) => void;
  readonly reauthentication: Store<ReauthenticationRequest | null>;
  /** Null on pages that belong to no project. */
  readonly access: Store<Access | null>;
  /** Whether the session ended while the page was open. */
  readonly isSignedOut: Store<boolean>;
  /** Whether the person is signing out, which closes the stream of changes first. */
  readonly isLeaving: Store<boolean>;
  /** Whether the server runs another version than this page. */
  readonly isOutdated: Store<boolean>;
  /** The state of the stream of changes. */
  readonly connection: Store<'connecting' | 'open' | 'lost'>;
  /** When this person last changed something, by `performance.now()`. */
  readonly changedAt: Store<number>;
  /** The next announcement for screen readers. */
  readonly announcement: Store<string>;
  /** The number of forms with unsaved input. */
  readonly unsaved: Store<number>;
  /** The folded groups of the navigation, the same beside the page and in the drawer of a phone. */
  readonly folded: Store<ReadonlySet<PageGroup>>;
}

/** The signed-in person, and their permissions. */
export const sessionQuery = {
  ...reads(['session'], 'GET /dashboard/api/session'),
  staleTime: 60_000,
  structuralSharing: (before: unknown, now: unknown) =>
    keepingProjects(before as SessionAnswer | undefined, now as SessionAnswer),
};

/**
 * The server leaves out the projects of a person who must add a second factor. The open page keeps them, and its typed
 * text, below the dialog that asks for the factor.
 */
function keepingProjects(before: SessionAnswer | undefined, now: SessionAnswer): SessionAnswer {
  if (before?.state !== 'signed_in' || now.state !== 'signed_in') return replaceEqualDeep(before, now);
  const keeps = now.must_add_factor && before.person.id === now.person.id;
  return replaceEqualDeep(before, keeps ? { ...now, person: before.person, projects: before.projects } : now);
}

const MAX_RETRIES = 2;
/** Doubled at each retry: a page that does not load says so within two seconds. */
const RETRY_MS = 500;
const MAX_TOASTS = 3;

export function createDashboard(language: string): Dashboard {
  const toasts = createStore<readonly Toast[]>([]);
  const reauthentication = createStore<ReauthenticationRequest | null>(null);
  const isSignedOut = createStore(false);
  let lastToast = 0;
  const queries = new QueryClient({
    defaultOptions: {
      queries: {
        queryFn: (context) => readByKey(api, context),
        staleTime: 15_000,
        retry: (count, error) => count < MAX_RETRIES && isTransient(error),
        retryDelay: (count) => RETRY_MS * 2 ** count,
        networkMode: 'always',
        refetchOnReconnect: true,
      },
      // Without a connection a change fails and says so: it must not be sent later, when nobody expects it.
      mutations: { networkMode: 'always' },
    },
  });
  let refreshing: Promise<void> | null = null;
  const refreshSession = (): void => {
    refreshing ??= readSession(api, queries, isSignedOut).finally(() => {
      refreshing = null;
    });
  };
  const api = createApi({
    language,
    reauthenticate: () => askToReauthenticate(reauthentication),
    signedOut: () => isSignedOut.set(true),
    forbidden: refreshSession,
  });
  return {
    api,
    queries,
    refreshSession,
    toasts,
    toast: (text, kind = 'good') => {
      lastToast += 1;
      toasts.set([...toasts.get(), { id: lastToast, kind, text }].slice(-MAX_TOASTS));
    },
    reauthentication,
    access: createStore<Access | null>(null),
    isSignedOut,
    isLeaving: createStore(false),
    isOutdated: createStore(false),
    connection: createStore<'connecting' | 'open' | 'lost'>('connecting'),
    changedAt: createStore(-Infinity),
    announcement: createStore(''),
    unsaved: createStore(0),
    folded: createStore(foldedGroups()),
  };
}

async function readSession(api: Api, queries: QueryClient, isSignedOut: Store<boolean>): Promise<void> {
  const answer = await api('GET /dashboard/api/session').catch(() => null);
  if (answer?.state === 'signed_in') queries.setQueryData(sessionQuery.queryKey, answer);
  else if (answer !== null) isSignedOut.set(true);
}

/** Updates the session after a refusal. Downloads need this, because they do not go through `api`. */
export function noteRefusal({ isSignedOut, refreshSession }: Dashboard, error: unknown): void {
  if (!(error instanceof ApiFault)) return;
  if (error.status === 401) isSignedOut.set(true);
  if (isForbidden(error)) refreshSession();
}

/** Concurrent requests that need reauthentication share one dialog. */
export function askToReauthenticate(reauthentication: Store<ReauthenticationRequest | null>): Promise<boolean> {
  return new Promise((resolve) => {
    const waiting = reauthentication.get();
    const done = (reauthenticated: boolean): void => {
      reauthentication.set(null);
      waiting?.done(reauthenticated);
      resolve(reauthenticated);
    };
    reauthentication.set({ done });
  });
}

/** Whether the same request may succeed a moment later. */
export function isTransient(error: unknown): boolean {
  return error instanceof ApiFault && (error.type === 'offline' || error.status >= 500);
}

const DashboardContext = createContext<Dashboard | null>(null);

export const DashboardProvider = DashboardContext.Provider;

export function useDashboard(): Dashboard {
  const dashboard = useContext(DashboardContext);
  if (dashboard === null) throw new Error('There is no dashboard around this component.');
  return dashboard;
}

/** A value that components can subscribe to. */
interface Store<Value> {
  readonly get: () => Value;
  readonly set: (value: Value) => void;
  /** Calls the listener at every change. Returns a function that unsubscribes. */
  readonly subscribe: (listener: () => void) => () => void;
}

function createStore<Value>(first: Value): Store<Value> {
  let value = first;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The store's current value; re-renders when it changes. */
export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
