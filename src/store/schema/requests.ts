import type { Mode } from '../../domain/permission.ts';
import { integer, nullable, smallint, text, timestamp, uuid } from './column.ts';

/** Calls of the APIs; the id has the time. */
export const API_REQUESTS = {
  project_id: uuid(),
  mode: text<Mode>(),
  id: uuid(),
  request_id: text(),
  method: text(),
  path: text(),
  status: smallint(),
  duration_ms: integer(),
  key_id: uuid(),
  ip: nullable(text()),
  user_agent: nullable(text()),
  error_type: nullable(text()),
  error_param: nullable(text()),
  error: nullable(text()),
};

/** How many there are, by the minute. */
export const API_REQUEST_COUNTS = {
  project_id: uuid(),
  mode: text<Mode>(),
  at: timestamp(),
  requests: integer(),
};
