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
import type { Dashboard, Routes } from '../route.ts';
import type { RequestView } from './contract.ts';
import { keysetOf, listOf } from '../record-parts.ts';

const REQUESTS = '/dashboard/api/projects/:project/:mode/requests';

/** The log of calls of the APIs. */
export function requestRoutes(routes: Routes, { people: { app: core } }: Dashboard): void {
  const READ = { action: 'read_developer' } as const;
  routes.add(`GET ${REQUESTS}`, READ, async ({ scope, query }) => {
    const page = keysetOf(query, parseUuid);
    const [found, keys] = await Promise.all([
      searchApiRequests(core.db, scope, searchOf(query), page),
      listKeys(core.db, scope.projectId),
    ]);
    return {
      ...listOf(found, page, requestView, ({ id }) => id),
      keys: keys.filter(({ mode }) => mode === scope.mode).map(({ id, name }) => ({ id: encodeId('key', id), name })),
    };
  });
  routes.add(`GET ${REQUESTS}/:request`, READ, async ({ scope, params }) => {
    const id = parseUuid(params.request);
    const found = id === null ? null : await findApiRequest(core.db, scope, id);
    if (found === null) {
      throw notFound('There is no such request in this project and mode. Requests are kept for 30 days.');
    }
    return requestView(found);
  });
}

function searchOf(query: QueryOf<`GET ${typeof REQUESTS}`>) {
  const { outcome, method, path, status, key, request_id } = query;
  const { createdFrom, createdBefore } = readCreated(query);
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
  if (id === null) throw invalid('key', 'key must be the id of a key (key_…).');
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
