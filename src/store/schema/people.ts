import type { Role } from '../../domain/role.ts';
import { bigint, boolean, bytes, integer, json, named, nullable, text, texts, timestamp, uuid } from './column.ts';

/** People who may use the dashboard, or were invited to. */
export const PEOPLE = {
  id: uuid(),
  email: text(),
  /** The name under which colleagues know the person; null: the e-mail alone. */
  name: nullable(text()),
  /** The new address that is not confirmed yet. */
  pending_email: nullable(text()),
  /** PHC string; null until the invitation was accepted. */
  password_hash: nullable(text()),
  totp_secret: named('sealedTotp', nullable(bytes())),
  /** A secret that no code has confirmed yet. */
  totp_pending: named('sealedPendingTotp', nullable(bytes())),
  totp_last_step: nullable(bigint()),
  deactivated_at: nullable(timestamp()),
  created_at: timestamp(),
  /** When the invitation was accepted. */
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

/** The roles whose holders must have a second factor, in one project or in all. */
export const REQUIRED_FACTORS = { role: text<Role>() };

/** The purpose of a one-time link. */
export type LinkPurpose = 'setup' | 'invitation' | 'reset' | 'email';

/** One-time links. */
export const ACCOUNT_LINKS = {
  token_hash: bytes(),
  purpose: text<LinkPurpose>(),
  /** Null at set-up. */
  person_id: nullable(uuid()),
  created_at: timestamp(),
  expires_at: timestamp(),
  used_at: nullable(timestamp()),
};

/** The purpose of a passkey's signature within a session. */
export type ChallengeUse = 'prove' | 'add';

/** The session of one browser each. Only the hash of its token is stored. */
export const SESSIONS = {
  id: uuid(),
  token_hash: bytes(),
  person_id: uuid(),
  signed_in_at: timestamp(),
  last_used_at: timestamp(),
  /** When the person last confirmed their identity. */
  proved_at: timestamp(),
  ip: text(),
  user_agent: nullable(text()),
  /** The WebAuthn challenge that awaits its answer. */
  challenge: nullable(text()),
  challenge_for: nullable(text<ChallengeUse>()),
  challenge_until: nullable(timestamp()),
};

/** Sign-ins that wait for their second step, or for a passkey that identifies their person. */
export const SIGN_INS = {
  token_hash: bytes(),
  /** Null: the person is still unknown. */
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
  /** Base64url. */
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

/** The kind of actor of a change: a person, the operator at the command line, an API key, or the service itself. */
export type ActorKind = 'person' | 'command' | 'key' | 'service';

export const AUDIT_LOG = {
  id: uuid(),
  at: timestamp(),
  actor_kind: text<ActorKind>(),
  actor_id: nullable(uuid()),
  actor_name: text(),
  /** An action such as `wallet.set`. */
  action: text(),
  project_id: nullable(uuid()),
  subject_kind: text(),
  subject_id: nullable(text()),
  /** Values keyed by field, without secrets. */
  before: nullable(json<Readonly<Record<string, unknown>>>()),
  after: nullable(json<Readonly<Record<string, unknown>>>()),
  /** The client's address; null at the command line. */
  ip: nullable(text()),
  request_id: nullable(text()),
};

/** Filters and columns of the list of payments under a name. */
export const SAVED_VIEWS = {
  id: uuid(),
  project_id: uuid(),
  person_id: uuid(),
  name: text(),
  /** The query of the list's address. */
  query: text(),
  /** Whether everybody who sees the project's payments has it. */
  shared: boolean(),
  /** Starts at 1 and increases with each change. */
  version: integer(),
  created_at: timestamp(),
  changed_at: timestamp(),
};
