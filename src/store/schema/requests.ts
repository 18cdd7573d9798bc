import type { Mode } from '../../domain/permission.ts';
import { integer, integers, nullable, smallint, text, texts, timestamp, uuid, uuids } from './column.ts';

/** Calls of the APIs: a row contains calls of the same second that are alike. */
export const API_REQUESTS = {
  project_id: uuid(),
  mode: text<Mode>(),
  last_id: uuid(),
  first_id: uuid(),
  method: text(),
  path: text(),
  status: smallint(),
  key_id: uuid(),
  ip: nullable(text()),
  user_agent: nullable(text()),
  error_type: nullable(text()),
  error_param: nullable(text()),
  error: nullable(text()),
  ids: uuids(),
  request_ids: texts(),
  durations: integers(),
};

/** The number of calls per minute. */
export const API_REQUEST_COUNTS = {
  project_id: uuid(),
  mode: text<Mode>(),
  at: timestamp(),
  requests: integer(),
};
