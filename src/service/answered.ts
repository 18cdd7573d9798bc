import type { Logger } from 'pino';
import { createRequestLog } from '../app/dashboard/request-log.ts';
import type { Config } from '../config/config.ts';
import { loggedPath } from '../http/path.ts';
import type { AnsweredRequest } from '../http/server.ts';
import { logAnswer } from './access-line.ts';
import { createRefusalLines } from './refusal-lines.ts';
import type { Cointill } from './core.ts';
import type { Counting } from './monitoring.ts';

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
