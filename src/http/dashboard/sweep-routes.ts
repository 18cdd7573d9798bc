import type { FastifyInstance } from 'fastify';
import type { Dashboard } from './route.ts';

/** The page of sweeps. */
export function sweepRoutes(_app: FastifyInstance, _dashboard: Dashboard): void {}
