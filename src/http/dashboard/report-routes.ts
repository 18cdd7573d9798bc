import type { FastifyInstance } from 'fastify';
import type { Dashboard } from './route.ts';

/** The page of reports. */
export function reportRoutes(_app: FastifyInstance, _dashboard: Dashboard): void {}
