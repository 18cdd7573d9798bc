import { useEffect } from 'react';
import type { LiveMessage } from '../../src/http/dashboard/live/contract.ts';
import { urlOf } from './api.ts';
import { useDashboard, type Dashboard, useStore, sessionQuery } from './dashboard.ts';
import { projectKey, refreshPayment, refundsKey } from './pages/payments/queries.ts';
import { attentionKey } from './pages/attention/queries.ts';
import type { Scope } from './scope.ts';

/** Changes that arrive within this time are requested together. */
const GATHER_MS = 1_000;
const AT_ONCE_MS = 20;
/** With more changes at once, everything is requested again. */
const MAX_SINGLE = 10;
const TRY_AGAIN_MS = 5_000;

type Gathered = Extract<LiveMessage, { readonly kind: 'payment' | 'payment_created' | 'anything' }>;

/** Keeps the displayed project up to date by the tab's one stream, which says what changed but not how. */
export function useLive(scope: Scope | null): void {
  const dashboard = useDashboard();
  const isLeaving = useStore(dashboard.isLeaving);
  useEffect(() => {
    if (scope === null || isLeaving) return undefined;
    return follow(dashboard, scope);
  }, [dashboard, scope?.project, scope?.mode, isLeaving]);
}

function follow(dashboard: Dashboard, scope: Scope): () => void {
  const { queries } = dashboard;
  const changed = new Set<string>();
  let isAnything = false;
  let flushedAt = -Infinity;
  let timer: ReturnType<typeof setTimeout> | null = null;
  const flush = (): void => {
    timer = null;
    flushedAt = performance.now();
    const ids = [...changed];
    changed.clear();
    if (isAnything || ids.length > MAX_SINGLE) void queries.invalidateQueries({ queryKey: projectKey(scope) });
    else void Promise.all(ids.map((id) => refreshPayment(dashboard, scope, id)));
    isAnything = false;
  };
  const gather = (): void => {
    // A change after a silence is shown at once.
    const waitMs = Math.max(AT_ONCE_MS, flushedAt + GATHER_MS - performance.now());
    timer ??= setTimeout(flush, waitMs);
  };
  const take = (message: LiveMessage): void => {
    if (message.kind === 'payment' || message.kind === 'payment_created') changed.add(message.id);
    else if (message.kind === 'anything') isAnything = true;
    else return apply(dashboard, scope, message);
    gather();
  };

  const url = urlOf('/dashboard/api/projects/:project/:mode/events', { params: { ...scope } });
  const close = followStream(dashboard, url, take);
  return () => {
    close();
    if (timer !== null) clearTimeout(timer);
  };
}

/**
 * Passes on the messages of a stream, which is opened again after it was refused; `anything` stands for those that were
 * missed. Returns a function that closes the stream.
 */
export function followStream(
  { connection, refreshSession }: Dashboard,
  url: string,
  take: (message: LiveMessage) => void,
): () => void {
  let retry: ReturnType<typeof setTimeout> | null = null;
  connection.set('connecting');
  let source = open();

  function open(): EventSource {
    const stream = new EventSource(url);
    stream.addEventListener('open', () => {
      // The stream does not repeat what it missed while it was disconnected.
      if (connection.get() === 'lost') take({ kind: 'anything' });
      connection.set('open');
    });
    stream.addEventListener('message', ({ data }: MessageEvent<string>) => take(JSON.parse(data)));
    stream.addEventListener('error', () => {
      connection.set('lost');
      if (stream.readyState !== EventSource.CLOSED) return;
      // Refused: the session may have ended. Browsers do not retry then.
      refreshSession();
      retry ??= setTimeout(() => {
        retry = null;
        source = open();
      }, TRY_AGAIN_MS);
    });
    return stream;
  }

  return () => {
    source.close();
    // Without a stream, nothing reconnects.
    connection.set('connecting');
    if (retry !== null) clearTimeout(retry);
  };
}

function apply(dashboard: Dashboard, scope: Scope, message: Exclude<LiveMessage, Gathered>): void {
  const { queries, isOutdated } = dashboard;
  switch (message.kind) {
    case 'session':
      return dashboard.refreshSession();
    case 'attention':
      return void queries.invalidateQueries({ queryKey: attentionKey(scope) });
    case 'deliveries':
      return void queries.invalidateQueries({ queryKey: [...projectKey(scope), 'webhooks'] });
    case 'sweeps':
      void queries.invalidateQueries({ queryKey: attentionKey(scope) });
      return void queries.invalidateQueries({ queryKey: [...projectKey(scope), 'sweeps'] });
    case 'network':
      // Only single payments and refunds show confirmations; lists of payments do not.
      void queries.invalidateQueries({ queryKey: refundsKey(scope) });
      return void queries.invalidateQueries({ queryKey: [...projectKey(scope), 'payment'] });
    case 'version': {
      const known = queries.getQueryData(sessionQuery.queryKey);
      if (known !== undefined && known.version !== message.version) isOutdated.set(true);
    }
  }
}
