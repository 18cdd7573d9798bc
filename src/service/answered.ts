import type { Logger } from 'pino';
import { createRequestLog } from '../app/dashboard/request-log.ts';
import type { Config } from '../config/config.ts';
import { loggedPath } from '../http/path.ts';
import type { AnsweredRequest } from '../http/server.ts';
import { createRefusalLines } from './refusal-lines.ts';
import type { Cointill } from './core.ts';
import type { Counting } from './monitoring.ts';
import type { Troubles } from '../domain/trouble.ts';
import { durationText } from './plain-text.ts';

const SLOW_MS = 1_000;

/**
 * Logs an answered request, only at level `debug`, because a busy service answers thousands per second. The query is
 * left out. Slow requests are reported at any level.
 */
function logAnswer(log: Logger, troubles: Troubles, answer: AnsweredRequest): void {
  const { id: request, method, status } = answer;
  const isSlow = answer.durationMs > SLOW_MS;
  if (!isSlow && !log.isLevelEnabled('debug')) return;
  const path = loggedPath(answer);
  const durationMs = Math.round(answer.durationMs);
  if (isSlow) {
    const problem = `${method} ${path} took ${durationText(durationMs)}`;
    troubles.happened('slow requests', problem, { request, path, status, duration_ms: durationMs });
  }
  const fields = { kind: 'request', request, method, route: answer.route, path, status, duration_ms: durationMs };
  log.debug(fields, `${method} ${path}: ${status}`);
}

/** What is kept of every answered request: counters, a line of the log, and the dashboard's log of requests. */
export function startAnswered(
  { dashboard }: Config,
  { app, troubles }: Cointill,
  { metrics }: Counting,
  log: Logger,
): { readonly onAnswered: (answer: AnsweredRequest) => void; readonly stop: () => Promise<void> } {
  const onFault = (error: unknown): void => troubles.happened('the log of requests', error);
  const refusal = createRefusalLines(log, troubles);
  const requests = dashboard === null ? null : createRequestLog(app, { onFault });
  return {
    onAnswered: (answer) => {
      metrics.onAnswered(answer);
      logAnswer(log, troubles, answer);
      const { id: requestId, method, status, durationMs, call, denied } = answer;
      if (denied !== null) refusal({ what: 'request', ...denied, request: requestId });
      if (call !== null) requests?.add({ ...call, requestId, method, path: loggedPath(answer), status, durationMs });
    },
    stop: async () => requests?.stop(),
  };
}
