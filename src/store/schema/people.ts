import type { Role } from '../../domain/role.ts';
import { bigint, boolean, bytes, integer, json, nullable, text, texts, timestamp, uuid } from './column.ts';

export const PEOPLE = {
  id: uuid(),
  email: text(),
  pending_email: nullable(text()),
  password_hash: nullable(text()),
  totp_secret: nullable(bytes()),
  totp_pending: nullable(bytes()),
  totp_last_step: nullable(bigint()),
  deactivated_at: nullable(timestamp()),
  created_at: timestamp(),
  joined_at: nullable(timestamp()),
  last_seen_at: nullable(timestamp()),
};

export const MEMBERSHIPS = {
  id: uuid(),
  person_id: uuid(),
  project_id: nullable(uuid()),
  role: text<Role>(),
  created_at: timestamp(),
};

/** What a one-time link is for. */
export type LinkPurpose = 'setup' | 'invitation' | 'reset' | 'email';

export const ACCOUNT_LINKS = {
  token_hash: bytes(),
  purpose: text<LinkPurpose>(),
  person_id: nullable(uuid()),
  created_at: timestamp(),
  expires_at: timestamp(),
  used_at: nullable(timestamp()),
};

/** What a passkey signs for within a session. */
export type ChallengeUse = 'prove' | 'add';

export const SESSIONS = {
  id: uuid(),
  token_hash: bytes(),
  person_id: uuid(),
  signed_in_at: timestamp(),
  last_used_at: timestamp(),
  proved_at: timestamp(),
  ip: text(),
  user_agent: nullable(text()),
  challenge: nullable(text()),
  challenge_for: nullable(text<ChallengeUse>()),
  challenge_until: nullable(timestamp()),
};

export const SIGN_INS = {
  token_hash: bytes(),
  person_id: nullable(uuid()),
  challenge: nullable(text()),
  created_at: timestamp(),
};

export const KNOWN_BROWSERS = {
  token_hash: bytes(),
  person_id: uuid(),
  last_used_at: timestamp(),
};

export const PASSKEYS = {
  id: uuid(),
  person_id: uuid(),
  name: text(),
  credential_id: text(),
  public_key: bytes(),
  counter: bigint(),
  transports: texts(),
  created_at: timestamp(),
  last_used_at: nullable(timestamp()),
};

export const RECOVERY_CODES = {
  person_id: uuid(),
  code_hash: bytes(),
  used_at: nullable(timestamp()),
};

/** Who makes a change: a person, the operator at the command line, an API key, or the service by itself. */
export type ActorKind = 'person' | 'command' | 'key' | 'service';

export const AUDIT_LOG = {
  id: uuid(),
  at: timestamp(),
  actor_kind: text<ActorKind>(),
  actor_id: nullable(uuid()),
  actor_name: text(),
  action: text(),
  project_id: nullable(uuid()),
  subject_kind: text(),
  subject_id: nullable(text()),
  before: nullable(json<Readonly<Record<string, unknown>>>()),
  after: nullable(json<Readonly<Record<string, unknown>>>()),
  ip: nullable(text()),
  request_id: nullable(text()),
};

/** Filters and columns of the list of payments under a name. */
export const SAVED_VIEWS = {
  id: uuid(),
  project_id: uuid(),
  person_id: uuid(),
  name: text(),
  query: text(),
  shared: boolean(),
  version: integer(),
  created_at: timestamp(),
  changed_at: timestamp(),
};
