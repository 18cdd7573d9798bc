import type { Logger } from 'pino';
import type { Troubles } from '../domain/trouble.ts';
import { loggedPath } from '../http/path.ts';
import type { AnsweredRequest } from '../http/server.ts';
import { durationText } from './plain-text.ts';

const SLOW_MS = 1_000;

/**
 * Logs an answered request, only at level `debug`, because a busy service answers thousands per second. The query is
 * left out. Slow requests are reported at any level.
 */
export function logAnswer(log: Logger, troubles: Troubles, answer: AnsweredRequest): void {
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
