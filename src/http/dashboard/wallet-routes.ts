import type { FastifyInstance } from 'fastify';
import type { Dashboard } from './route.ts';

/** The page of wallets. */
export function walletRoutes(_app: FastifyInstance, _dashboard: Dashboard): void {}
