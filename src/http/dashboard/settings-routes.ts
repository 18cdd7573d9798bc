import type { FastifyInstance } from 'fastify';
import type { Dashboard } from './route.ts';

/** The page of settings. */
export function settingsRoutes(_app: FastifyInstance, _dashboard: Dashboard): void {}
