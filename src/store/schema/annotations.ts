import type { Mode } from '../../domain/permission.ts';
import { integer, nullable, text, timestamp, uuid } from './column.ts';

/** People's notes about payments. */
export const PAYMENT_NOTES = {
  id: uuid(),
  payment_id: uuid(),
  author_id: uuid(),
  /** The author's e-mail address when the note was written. */
  author_name: text(),
  body: text(),
  /** Starts at 1 and increases with each edit. */
  version: integer(),
  created_at: timestamp(),
  edited_at: nullable(timestamp()),
};

/** Words that people add to a project's payments of both modes. */
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
