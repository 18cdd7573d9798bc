import type { Mode } from '../../domain/permission.ts';
import { bigint, text, timestamp, uuid } from './column.ts';

/** The payments that people made at the till. */
export const TILL_SALES = {
  payment_id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  person_id: uuid(),
  tip_minor: bigint(),
  created_at: timestamp(),
};
