import type { Mode } from '../../domain/permission.ts';
import { integer, nullable, text, timestamp, uuid } from './column.ts';

export const PAYMENT_NOTES = {
  id: uuid(),
  payment_id: uuid(),
  author_id: uuid(),
  author_name: text(),
  body: text(),
  version: integer(),
  created_at: timestamp(),
  edited_at: nullable(timestamp()),
};

export const LABELS = {
  id: uuid(),
  project_id: uuid(),
  name: text(),
  created_at: timestamp(),
};

export const PAYMENT_LABELS = {
  payment_id: uuid(),
  label_id: uuid(),
  mode: text<Mode>(),
};
