import type { TSchema } from 'typebox';

/** What goes over the wire for one route: `params` of its path, `query`, JSON `body`, JSON `answer`. */
export interface RouteContract {
  readonly params?: TSchema;
  readonly query?: TSchema;
  readonly body?: TSchema;
  readonly answer: TSchema;
}

/** Routes by `METHOD /path`, as Fastify writes paths. */
export type Contracts = Readonly<Record<`${'GET' | 'POST'} /dashboard/api/${string}`, RouteContract>>;
