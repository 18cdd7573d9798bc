import type { FastifyRequest } from 'fastify';
import type { Problems } from '../domain/problems.ts';
import { loggedPath } from './path.ts';

/**
 * Reports that a request was answered with an internal error. The path has neither its query nor the token of a link.
 */
export function reportFault(problems: Problems, request: FastifyRequest, status: number, fault: unknown): void {
  const subject = `${request.method} ${request.routeOptions.url ?? 'of an unknown path'} answered ${status}`;
  problems.happened(subject, fault, { request: request.id, path: loggedPath(request) });
}
