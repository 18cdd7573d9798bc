import type { TSchema } from 'typebox';

/** The schemas of one route: `params` of its path, `query`, JSON `body` and JSON `answer`. */
export interface RouteContract {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly answer: TSchema;
}

/** Routes by `METHOD /path`, in Fastify's path syntax. */
export type Contracts = Readonly<Record<`${'GET' | 'POST'} /dashboard/api/${string}`, RouteContract>>;
