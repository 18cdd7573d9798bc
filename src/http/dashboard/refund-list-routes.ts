import type { FastifyInstance } from 'fastify';
import type { Dashboard } from './route.ts';

/** The page of refunds. */
export function refundListRoutes(_app: FastifyInstance, _dashboard: Dashboard): void {}
