import type { Fiat } from '../../domain/money.ts';
import type { RequestStatus } from '../../domain/payment-request.ts';
import type { Mode } from '../../domain/permission.ts';
import { bigint, boolean, integer, json, nullable, text, timestamp, uuid } from './column.ts';

/** Requests for money; their payments are the invoices that name them. */
export const PAYMENT_REQUESTS = {
  id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  status: text<RequestStatus>(),
  title: text(),
  description: nullable(text()),
  reference: nullable(text()),
  amount_minor: nullable(bigint()),
  min_amount_minor: nullable(bigint()),
  max_amount_minor: nullable(bigint()),
  currency: text<Fiat>(),
  max_payments: nullable(integer()),
  coins: nullable(json<readonly string[]>()),
  success_url: nullable(text()),
  ask_email: boolean(),
  ask_name: boolean(),
  ask_note: boolean(),
  metadata: nullable(json<Readonly<Record<string, string>>>()),
  created_at: timestamp(),
  expires_at: nullable(timestamp()),
  ended_at: nullable(timestamp()),
  told_minor: bigint(),
  told_payments: integer(),
  last_sequence: integer(),
  due_at: nullable(timestamp()),
};
