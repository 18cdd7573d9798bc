import type { Fiat } from '../../domain/money.ts';
import type { KeyKind, Mode, Permission, Scope } from '../../domain/permission.ts';
import { bigint, boolean, bytes, defaulted, integer, nullable, text, texts, timestamp, uuid } from './column.ts';

export const PROJECTS = {
  id: uuid(),
  name: text(),
  active: defaulted(boolean()),
  allow_ips: defaulted(texts()),
  spread_basis_points: defaulted(integer()),
  sweep_min_usd_cents: defaulted(bigint()),
  allow_origins: defaulted(texts()),
  coin_order: defaulted(texts()),
  coins_off: defaulted(texts()),
  monitoring_hours: nullable(integer()),
  accent: nullable(text()),
  support_url: nullable(text()),
  created_at: timestamp(),
  default_expiry_minutes: nullable(integer()),
  default_currency: nullable(text<Fiat>()),
  default_success_url: nullable(text()),
};

/** The picture formats of a logo: raster only, because an SVG can contain scripts. */
export type LogoType = 'image/png' | 'image/jpeg' | 'image/webp';

/** `hash`: SHA-256 of the bytes in lower-case hex. */
export const PROJECT_LOGOS = {
  project_id: uuid(),
  hash: text(),
  type: text<LogoType>(),
  width: integer(),
  height: integer(),
  bytes: bytes(),
};

/** Logos that were not saved yet. */
export const LOGO_DRAFTS = {
  project_id: uuid(),
  hash: text(),
  type: text<LogoType>(),
  bytes: bytes(),
  created_at: timestamp(),
};

export const API_KEYS = {
  id: uuid(),
  project_id: uuid(),
  mode: text<Mode>(),
  kind: text<KeyKind>(),
  /** Means nothing where there are scopes. */
  permission: text<Permission>(),
  name: text(),
  hash: bytes(),
  created_at: timestamp(),
  revoked_at: nullable(timestamp()),
  last_used_at: nullable(timestamp()),
  ends_at: nullable(timestamp()),
  successor_id: nullable(uuid()),
  scopes: nullable(texts<Scope>()),
};

/** Where keys were used from lately. */
export const API_KEY_CLIENTS = {
  key_id: uuid(),
  client: text(),
  user_agent: nullable(text()),
  requests: bigint(),
  first_seen_at: timestamp(),
  last_seen_at: timestamp(),
  last_used_at: nullable(timestamp()),
  last_refused_at: nullable(timestamp()),
};
