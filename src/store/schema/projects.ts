import type { DatevSettings } from '../../domain/bookkeeping.ts';
import type { Fiat } from '../../domain/money.ts';
import type { KeyKind, Mode, Permission, Scope } from '../../domain/permission.ts';
import type { TillSettings } from '../../domain/till.ts';
import { bigint, boolean, bytes, defaulted, integer, json, nullable, text, texts, timestamp, uuid } from './column.ts';

export const PROJECTS = {
  id: uuid(),
  name: text(),
  active: defaulted(boolean()),
  allow_ips: defaulted(texts()),
  /** How much its customers pay above the market price, in hundredths of a percent. */
  spread_basis_points: defaulted(integer()),
  /** The least value of a deposit that is swept, at the price its payment was quoted at. */
  sweep_min_usd_cents: defaulted(bigint()),
  allow_origins: defaulted(texts()),
  coin_order: defaulted(texts()),
  coins_off: defaulted(texts()),
  /** How long its payments are watched after their end; null: the service's setting. */
  monitoring_hours: nullable(integer()),
  /** The shop's colour: six hex digits in lower case. The page adjusts it so that text stays legible. */
  accent: nullable(text()),
  /** Where its customers find help: https, http or mailto. */
  support_url: nullable(text()),
  created_at: timestamp(),
  /** The default of payments; null: the service's own. */
  default_expiry_minutes: nullable(integer()),
  /** The currency that the dashboard's form of a new payment begins with. */
  default_currency: nullable(text<Fiat>()),
  default_success_url: nullable(text()),
  /** For its DATEV files; null: not entered yet. */
  datev: nullable(json<DatevSettings>()),
  /** Its choices for the till; null: the usual ones. */
  till: nullable(json<TillSettings>()),
  /** One line of the shop's own text on its pages. */
  page_text: nullable(text()),
  /** The shop's terms and imprint: https. */
  terms_url: nullable(text()),
  imprint_url: nullable(text()),
};

/** The formats of a shop's pictures: raster only, because an SVG can contain scripts. */
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

/** The pictures of browsers' tabs. */
export const PROJECT_ICONS = { ...PROJECT_LOGOS };

/** Unsaved logos and icons, for previews. */
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
  /** Ignored if there are scopes. */
  permission: text<Permission>(),
  name: text(),
  hash: bytes(),
  created_at: timestamp(),
  revoked_at: nullable(timestamp()),
  /** Exact to the minute; null: never. */
  last_used_at: nullable(timestamp()),
  /** The time at which it stops or stopped working because another key replaced it; null: no key did. */
  ends_at: nullable(timestamp()),
  /** The key that replaced it. */
  successor_id: nullable(uuid()),
  scopes: nullable(texts<Scope>()),
};

/** The clients that used keys recently. */
export const API_KEY_CLIENTS = {
  key_id: uuid(),
  /** The client's address, or for public keys the origin of the page; empty for all others together. */
  client: text(),
  user_agent: nullable(text()),
  /** Counted since `first_seen_at`. */
  requests: bigint(),
  first_seen_at: timestamp(),
  last_seen_at: timestamp(),
  /** When it was last let in; null: never. */
  last_used_at: nullable(timestamp()),
  /** When the allow-list last refused it; null: never. */
  last_refused_at: nullable(timestamp()),
};
