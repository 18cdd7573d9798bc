import path from 'node:path';
import { readAddresses, type Addresses } from './addresses.ts';
import { readDatabaseUrl } from './database-url.ts';
import type { AssetCode } from '../domain/asset-code.ts';
import type { UsdPriceE8 } from '../domain/asset.ts';
import { parseDayTime, type DayTime } from '../domain/backup-time.ts';
import type { Fiat } from '../domain/money.ts';
import type { NetworkNodes } from '../rails/networks.ts';
import type { UtxoChains } from '../rails/family.ts';
import { parseFixedRates } from '../rates/fixed.ts';
import { sourceOwner, WEB_SOURCES } from '../rates/web-sources.ts';
import { usualDataDir } from './installation.ts';
import { readMail, type MailConfig } from './mail.ts';
import { readNetworks, readUtxoChains } from './networks.ts';
import { reader, type Reader } from './reader.ts';
import { settingWarnings } from './warnings.ts';

export const ROLES = ['all', 'api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

/** Chainlink is read through the Ethereum node. */
const RATE_SOURCES = [...new Set(WEB_SOURCES.map(({ name }) => sourceOwner(name))), 'chainlink'];

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** The usual values in Node.js. Any other is refused, because a misspelt `production` would mean less protection. */
const ENVIRONMENTS = ['production', 'development', 'test'] as const;

/** The dashboard of the live address. */
export interface DashboardConfig {
  /** The origin where people open the dashboard: the base of all links to it, and WebAuthn's origin. */
  readonly url: string;
  /** Whether `DASHBOARD_URL` names the origin: then no other host serves the dashboard. */
  readonly isBound: boolean;
  /** CIDRs that may reach the dashboard; null: everybody may. */
  readonly allowCidrs: readonly string[] | null;
}

/** Scheduled backups. */
export interface BackupSchedule {
  readonly folder: string;
  readonly at: DayTime;
  /** The number of backups to keep. */
  readonly keep: number;
  readonly passphraseFile: string | null;
}

/** The operator's settings, validated and typed. */
export interface Config extends Addresses {
  readonly role: Role;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  /** A connection past the pooler in `databaseUrl`, for work that needs a session of its own; null: no pooler. */
  readonly databaseDirectUrl: string | null;
  /** A standby of the same database, for exports, statements and backups; null: they read the database itself. */
  readonly databaseReadUrl: string | null;
  /** The most connections of one process's pool. */
  readonly databasePool: number;
  readonly redisUrl: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly production: boolean;
  readonly sandboxCompleteAfterMs: number;
  /** How long events are kept; null: for ever. */
  readonly eventLifetimeMs: number | null;
  readonly rateLimits: {
    readonly test: number;
    readonly live: number;
    readonly page: number;
    readonly dashboard: number;
  };
  /** Null: the dashboard is off. */
  readonly dashboard: DashboardConfig | null;
  readonly metricsToken: string | null;
  readonly secretKey: string | null;
  /** A former SECRET_KEY, or the content of a former `secret.key`, which opens and does not seal. */
  readonly secretKeyPrevious: string | null;
  readonly webhookAllowCidrs: readonly string[];
  /** The networks that have a node. */
  readonly networks: readonly NetworkNodes[];
  /** The chain of each network, also for networks without a node. */
  readonly utxoChains: UtxoChains;
  /** The rest of a worker at the head of a chain before it polls the node again; null: the default. */
  readonly nodePollMs: number | null;
  /** The highest fee rate of a refund on the UTXO family, in the smallest units per virtual byte. */
  readonly maxFeeRate: number;
  /** The age beyond which a price is not used. */
  readonly rateMaxAgeMs: number;
  /** The price sources to ask. */
  readonly rateSources: readonly string[];
  /** The time that addresses stay watched after a payment's end. */
  readonly monitoringMs: number;
  readonly fixedRates: ReadonlyMap<AssetCode | Fiat, UsdPriceE8>;
  /** Null: the service sends no mail. */
  readonly mail: MailConfig | null;
  /** Null: no backups are scheduled. */
  readonly backups: BackupSchedule | null;
  /** The time that an API keeps answering after it was told to stop, so that load balancers can move on. */
  readonly drainMs: number;
  /** The absolute paths of the files that secrets were read from, by the setting whose value they hold. */
  readonly secretFiles: ReadonlyMap<string, string>;
  /** Doubtful settings that the service starts with, a sentence each. */
  readonly warnings: readonly string[];
}

const DAY_MS = 24 * 60 * 60_000;
/** Mails tell of the month before. */
const MIN_EVENT_DAYS = 62;

/** One or more settings are invalid; the message names every one, its rule and the way out. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `Cointill cannot start, because ${problems.length === 1 ? 'a setting is' : `${problems.length} settings are`} wrong:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** Reads the environment. Throws one ConfigError that names every invalid value; secrets are never repeated. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const problems: string[] = [];
  const read = reader(env, cwd, problems);
  const role = read.choice('ROLE', ROLES, 'all');
  const production = read.choice('NODE_ENV', ENVIRONMENTS, 'development') === 'production';
  const addresses = readAddresses(read, { isWorker: role === 'worker', production }, cwd, problems);
  const secretKey = read.text('SECRET_KEY');
  if (secretKey !== null && secretKey.length < 32) {
    problems.push('SECRET_KEY must have at least 32 characters. Make a key with: openssl rand -base64 32');
  }
  const secretKeyPrevious = read.text('SECRET_KEY_PREVIOUS');
  if (secretKeyPrevious !== null && secretKeyPrevious.length < 32) {
    problems.push(
      'SECRET_KEY_PREVIOUS must be a former SECRET_KEY or the content of a former secret.key, which have at least 32 characters.',
    );
  }
  const rates = parseFixedRates(read.text('FIXED_RATES') ?? '');
  if (rates.kind === 'invalid') problems.push(`FIXED_RATES: ${rates.message}. Write for example ETH=3000,BTC=60000.`);
  const utxoChains = readUtxoChains(read);
  const databaseUrl = readDatabaseUrl('DATABASE_URL', read.text('DATABASE_URL'), cwd, problems);
  const databaseDirectUrl = readDatabaseUrl('DATABASE_DIRECT_URL', read.text('DATABASE_DIRECT_URL'), cwd, problems);
  if (databaseDirectUrl !== null && !read.isSet('DATABASE_URL')) {
    problems.push('DATABASE_DIRECT_URL is a second way to the database of DATABASE_URL, which must also be set.');
  }
  const databaseReadUrl = readDatabaseUrl('DATABASE_READ_URL', read.text('DATABASE_READ_URL'), cwd, problems);
  if (databaseReadUrl !== null && !read.isSet('DATABASE_URL')) {
    problems.push('DATABASE_READ_URL is a standby of the database of DATABASE_URL, which must also be set.');
  }
  const config: Config = {
    role,
    ...addresses,
    dataDir: path.resolve(cwd, read.text('DATA_DIR') ?? usualDataDir(env, cwd)),
    databaseUrl,
    databaseDirectUrl,
    databaseReadUrl,
    databasePool: read.integer('DATABASE_POOL', 16, 4, 1_000),
    redisUrl: readRedisUrl(read.text('REDIS_URL'), problems),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    production,
    sandboxCompleteAfterMs: read.integer('SANDBOX_COMPLETE_AFTER_SECONDS', 60, 1, 86_400) * 1000,
    eventLifetimeMs: read.isSet('EVENT_DAYS')
      ? read.integer('EVENT_DAYS', MIN_EVENT_DAYS, MIN_EVENT_DAYS, 36_500) * DAY_MS
      : null,
    rateLimits: {
      test: read.integer('RATE_LIMIT_TEST', 100, 1, 1_000_000_000),
      live: read.integer('RATE_LIMIT_LIVE', 1000, 1, 1_000_000_000),
      page: read.integer('RATE_LIMIT_PAGE', 600, 1, 1_000_000_000),
      dashboard: read.integer('RATE_LIMIT_DASHBOARD', 1200, 1, 1_000_000_000),
    },
    ...readDashboard(read, addresses.baseUrl, problems),
    metricsToken: readMetricsToken(read, problems),
    secretKey,
    secretKeyPrevious,
    webhookAllowCidrs: read.cidrs('WEBHOOK_ALLOW_CIDRS') ?? [],
    networks: readNetworks(read, utxoChains, cwd, problems),
    utxoChains,
    nodePollMs: read.integer('NODE_POLL_MS', 0, 20, 60_000) || null,
    maxFeeRate: read.integer('MAX_FEE_RATE', 1_000, 1, 1_000_000),
    rateMaxAgeMs: read.integer('RATE_MAX_AGE_SECONDS', 120, 30, 3_600) * 1000,
    rateSources: readRateSources(read.text('RATE_SOURCES'), problems),
    monitoringMs: read.integer('MONITORING_HOURS', 168, 1, 8_760) * 3_600_000,
    fixedRates: rates.kind === 'ok' ? rates.prices : new Map(),
    backups: readBackups(read, cwd, problems),
    drainMs: read.integer('DRAIN_SECONDS', 0, 0, 300) * 1000,
    secretFiles: read.files(),
    warnings: [],
  };
  refuse(problems, read.lineBreaks());
  return Object.freeze({ ...config, warnings: settingWarnings(config, env, read.names()) });
}

/** Throws line breaks alone, because they may cause the other problems, whose messages could then repeat a secret. */
function refuse(problems: readonly string[], lineBreaks: readonly string[]): void {
  const refused = lineBreaks.length > 0 ? lineBreaks : problems;
  if (refused.length > 0) throw new ConfigError(refused);
}

const MIN_TOKEN_CHARACTERS = 16;

function readMetricsToken(read: Reader, problems: string[]): string | null {
  const token = read.text('METRICS_TOKEN');
  if (token !== null && token.length < MIN_TOKEN_CHARACTERS) {
    problems.push(
      `METRICS_TOKEN must have at least ${MIN_TOKEN_CHARACTERS} characters. Make a token with: openssl rand -base64 32`,
    );
  }
  return token;
}

/** Reads `DASHBOARD`, `SMTP_URL` and the settings that belong to them, and checks all of them even if it is off. */
function readDashboard(read: Reader, baseUrl: string, problems: string[]): Pick<Config, 'dashboard' | 'mail'> {
  const isOn = read.choice('DASHBOARD', ['on', 'off'], 'on') === 'on';
  const asked = read.url('DASHBOARD_URL');
  // WebAuthn and the addresses of the page's own files need an origin, which has no path.
  const url = originOf(asked ?? baseUrl);
  if (asked !== null && asked !== url) {
    problems.push(
      `DASHBOARD_URL must have no path, because the dashboard is always at /dashboard of its host. Write ${url}.`,
    );
  }
  const allowCidrs = read.cidrs('DASHBOARD_ALLOW_CIDRS');
  const mail = readMail(read, url, problems);
  // Every mail links to the dashboard.
  return isOn ? { dashboard: { url, isBound: asked !== null, allowCidrs }, mail } : { dashboard: null, mail: null };
}

/** The origin of a URL; the text itself if it is no URL, which is a problem already. */
function originOf(url: string): string {
  return URL.parse(url)?.origin ?? url;
}

const USUAL_BACKUP_TIME = '03:10';
const USUALLY_KEPT = 14;

/** Reads `BACKUP_DIR` and the settings that belong to it. */
function readBackups(read: Reader, cwd: string, problems: string[]): BackupSchedule | null {
  const folder = read.text('BACKUP_DIR');
  const timeText = read.text('BACKUP_AT');
  const keep = read.integer('BACKUP_KEEP', USUALLY_KEPT, 1, 10_000);
  const passphraseFile = read.text('BACKUP_PASSPHRASE_FILE');
  const at = parseDayTime(timeText ?? USUAL_BACKUP_TIME);
  if (at === null)
    problems.push(`BACKUP_AT must be a time of day in UTC, such as ${USUAL_BACKUP_TIME}, not "${timeText ?? ''}".`);
  if (folder === null && (timeText !== null || passphraseFile !== null)) {
    problems.push('BACKUP_AT and BACKUP_PASSPHRASE_FILE are for backups in BACKUP_DIR, so BACKUP_DIR must be set too.');
  }
  if (folder === null || at === null) return null;
  return {
    folder: path.resolve(cwd, folder),
    at,
    keep,
    passphraseFile: passphraseFile === null ? null : path.resolve(cwd, passphraseFile),
  };
}

/** `all`, `none`, or names separated by commas. */
function readRateSources(text: string | null, problems: string[]): readonly string[] {
  if (text === null || text === 'all') return RATE_SOURCES;
  if (text === 'none') return [];
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  if (names.every((name) => RATE_SOURCES.includes(name))) return names;
  problems.push(`RATE_SOURCES must be all, none, or some of ${RATE_SOURCES.join(', ')}, separated by commas.`);
  return [];
}

function readRedisUrl(value: string | null, problems: string[]): string | null {
  if (value === null) return null;
  const url = URL.parse(value);
  if (!/^rediss?:\/\//.test(value)) problems.push('REDIS_URL must begin with redis:// or rediss://.');
  else if (url === null) {
    problems.push(
      'REDIS_URL is not a valid URL. Write redis://user:password@host:port, where only the host is required and the port is at most 65535. Write special characters as in a URL, such as %40 for @.',
    );
  }
  return value;
}
