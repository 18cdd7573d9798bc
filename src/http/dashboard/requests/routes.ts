import type { FastifyInstance } from 'fastify';
import { decodeId, encodeId, parseUuid } from '../../../domain/id.ts';
import { listKeys } from '../../../store/projects/api-keys.ts';
import {
  findApiRequest,
  searchApiRequests,
  timeOfId,
  type ListedApiRequest,
} from '../../../store/projects/api-requests.ts';
import { isoTime } from '../../../wire/time.ts';
import { readCreated } from '../../dates.ts';
import { invalid, notFound } from '../../errors.ts';
import type { QueryOf } from '../contract.ts';
import { addRoute, type Dashboard } from '../route.ts';
import { scopeOf } from '../scope.ts';
import type { RequestView } from './contract.ts';

const REQUESTS = '/dashboard/api/projects/:project/:mode/requests';
const PAGE = 50;

/** The log of calls of the APIs. */
export function requestRoutes(app: FastifyInstance, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  addRoute(app, `GET ${REQUESTS}`, READ, async ({ params, query, request }) => {
    const scope = scopeOf(request, params);
    const { limit = PAGE, after } = query;
    const page = { after: after === undefined ? null : afterOf(after), limit: limit + 1 };
    const [found, keys] = await Promise.all([
      searchApiRequests(core.db, scope, searchOf(query), page),
      listKeys(core.db, scope.projectId),
    ]);
    const last = found.length > limit ? found[limit - 1] : undefined;
    return {
      data: found.slice(0, limit).map(requestView),
      next: last?.id ?? null,
      keys: keys.filter(({ mode }) => mode === scope.mode).map(({ id, name }) => ({ id: encodeId('key', id), name })),
    };
  });
  addRoute(app, `GET ${REQUESTS}/:request`, READ, async ({ params, request }) => {
    const id = parseUuid(params.request);
    const found = id === null ? null : await findApiRequest(core.db, scopeOf(request, params), id);
    if (found === null) throw notFound('There is no such request in this project and mode. They are kept for 30 days.');
    return requestView(found);
  });
}

function searchOf(query: QueryOf<`GET ${typeof REQUESTS}`>) {
  const { outcome, method, path, status, key, request_id, created_after, created_before } = query;
  const { createdFrom, createdBefore } = readCreated({
    ...(created_after === undefined ? {} : { created_after }),
    ...(created_before === undefined ? {} : { created_before }),
  });
  return {
    outcome: outcome ?? null,
    method: method ?? null,
    path: path ?? null,
    status: status ?? null,
    keyId: key === undefined ? null : keyOf(key),
    requestId: request_id ?? null,
    from: createdFrom,
    before: createdBefore,
  };
}

function keyOf(text: string): string {
  const id = decodeId('key', text);
  if (id === null) throw invalid('key', 'key must be the id of a key, key_….');
  return id;
}

function afterOf(text: string): string {
  const id = parseUuid(text);
  if (id === null) throw invalid('after', 'after must be the next of the page before, as it was given.');
  return id;
}

function requestView(found: ListedApiRequest): RequestView {
  const { errorType, errorParam, error } = found;
  return {
    id: found.id,
    at: isoTime(timeOfId(found.id)),
    request_id: found.requestId,
    method: found.method,
    path: found.path,
    status: found.status,
    duration_ms: found.durationMs,
    key: { id: encodeId('key', found.keyId), name: found.keyName },
    client: found.ip,
    user_agent: found.userAgent,
    error: errorType === null ? null : { type: errorType, param: errorParam, message: error ?? '' },
  };
}
