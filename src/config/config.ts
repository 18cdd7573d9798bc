import path from 'node:path';
import { readDatabaseUrl } from './database-url.ts';
import type { AssetCode, UsdPriceE8 } from '../domain/asset.ts';
import {
  NETWORK_FACTS,
  NETWORKS,
  UTXO_NETWORKS,
  isUtxoNetwork,
  perNetwork,
  settingOf,
  type EvmNetwork,
  type UtxoNetwork,
} from '../domain/networks.ts';
import { parseDayTime, type DayTime } from '../domain/backup-time.ts';
import type { Fiat } from '../domain/money.ts';
import type { EvmNodes } from '../rails/evm/family.ts';
import { EVM_TOKENS, parseTokens, type TokenContracts } from '../rails/evm/tokens.ts';
import type { NetworkNodes } from '../rails/networks.ts';
import type { UtxoNodes } from '../rails/utxo/family.ts';
import type { UtxoChains } from '../rails/family.ts';
import { chainsOf } from '../rails/utxo/params.ts';
import { parseFixedRates } from '../rates/fixed.ts';
import { sourceOwner, WEB_SOURCES } from '../rates/web-sources.ts';
import { readTlsFiles, type TlsFiles } from './tls-files.ts';
import { parseCidr } from '../webhooks/guard.ts';

export const ROLES = ['all', 'api', 'worker'] as const;
export type Role = (typeof ROLES)[number];

/** Chainlink is asked by way of the Ethereum node. */
const RATE_SOURCES = [...new Set(WEB_SOURCES.map(({ name }) => sourceOwner(name))), 'chainlink'];

const MAX_CHAIN_ID = 2 ** 48;

export const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const;

/** Backups that are made by themselves. */
export interface BackupSchedule {
  readonly folder: string;
  readonly at: DayTime;
  /** How many of them are kept. */
  readonly keep: number;
  readonly passphraseFile: string | null;
}

/** What the operator set, checked and typed. */
export interface Config {
  readonly role: Role;
  readonly host: string;
  readonly port: number;
  readonly sandboxPort: number;
  /** Where health and metrics alone are told, on this machine only; null: nowhere. */
  readonly monitorPort: number | null;
  readonly dataDir: string;
  /** Null: the embedded PostgreSQL in `dataDir`. */
  readonly databaseUrl: string | null;
  /** The way past a pooler that stands in `databaseUrl`, for what needs a session of its own; null: the same way. */
  readonly databaseDirectUrl: string | null;
  readonly baseUrl: string;
  readonly sandboxBaseUrl: string;
  readonly checkoutUrl: string;
  readonly sandboxCheckoutUrl: string;
  /** Addresses and CIDRs of proxies whose `X-Forwarded-*` is believed; null: nobody's. */
  readonly trustProxy: readonly string[] | null;
  readonly tls: TlsFiles | null;
  readonly redisUrl: string | null;
  readonly logLevel: (typeof LOG_LEVELS)[number];
  readonly production: boolean;
  readonly sandboxCompleteAfterMs: number;
  readonly rateLimits: { readonly test: number; readonly live: number; readonly page: number };
  readonly metricsToken: string | null;
  readonly secretKey: string | null;
  readonly webhookAllowCidrs: readonly string[];
  /** The networks that have a node. */
  readonly networks: readonly NetworkNodes[];
  /** Which chain of each is meant, also where no node is set. */
  readonly utxoChains: UtxoChains;
  /** How long a worker that has read a chain to its end rests before it asks the node again; null: the usual. */
  readonly nodePollMs: number | null;
  /** The highest fee rate of a refund on Bitcoin and its kin, in the smallest units per virtual byte. */
  readonly maxFeeRate: number;
  /** A price older than this is not used. */
  readonly rateMaxAgeMs: number;
  /** Who is asked for prices. */
  readonly rateSources: readonly string[];
  /** How long addresses stay watched after a payment's end. */
  readonly monitoringMs: number;
  readonly fixedRates: ReadonlyMap<AssetCode | Fiat, UsdPriceE8>;
  /** Null: none are made. */
  readonly backups: BackupSchedule | null;
}

/** One or more settings are bad; the message names every one, its rule and its value's way out. */
export class ConfigError extends Error {
  readonly problems: readonly string[];
  constructor(problems: readonly string[]) {
    super(
      `Cointill cannot start, because of ${problems.length === 1 ? 'a setting' : `${problems.length} settings`}:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`,
    );
    this.problems = problems;
  }
}

/** Reads the environment. Throws one ConfigError that names every bad value; values of secrets are never repeated. */
export function readConfig(env: Readonly<Record<string, string | undefined>>, cwd: string): Config {
  const problems: string[] = [];
  const read = reader(env, problems);
  const port = read.integer('PORT', 4000, 1, 65_535);
  const sandboxPort = read.integer('SANDBOX_PORT', 4001, 1, 65_535);
  if (port === sandboxPort) problems.push(`PORT and SANDBOX_PORT are both ${port}; they must differ.`);
  const role = read.choice('ROLE', ROLES, 'all');
  const monitorPort = readMonitorPort(read, role, [port, sandboxPort], problems);
  const host = read.text('HOST') ?? '127.0.0.1';
  const tls = readTlsFiles(read.text('TLS_CERT'), read.text('TLS_KEY'), cwd, problems);
  const scheme = tls === null ? 'http' : 'https';
  const shownHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const baseUrl = read.url('BASE_URL') ?? `${scheme}://${shownHost}:${port}`;
  const sandboxBaseUrl = read.url('SANDBOX_BASE_URL') ?? `${scheme}://${shownHost}:${sandboxPort}`;
  const secretKey = read.text('SECRET_KEY');
  if (secretKey !== null && secretKey.length < 32) {
    problems.push('SECRET_KEY must have at least 32 characters; make one with: openssl rand -base64 32');
  }
  const rates = parseFixedRates(read.text('FIXED_RATES') ?? '');
  if (rates.kind === 'bad') problems.push(`FIXED_RATES: ${rates.message}; write for example ETH=3000,BTC=60000.`);
  const utxoChains = perNetwork(UTXO_NETWORKS, (network) =>
    read.choice(settingOf(network, 'CHAIN'), chainsOf(network), 'main'),
  );
  const databaseUrl = readDatabaseUrl('DATABASE_URL', read.text('DATABASE_URL'), cwd, problems);
  const databaseDirectUrl = readDatabaseUrl('DATABASE_DIRECT_URL', read.text('DATABASE_DIRECT_URL'), cwd, problems);
  if (databaseDirectUrl !== null && databaseUrl === null) {
    problems.push('DATABASE_DIRECT_URL is a second way to the database of DATABASE_URL, which must be set too.');
  }
  const config: Config = {
    role,
    host,
    port,
    sandboxPort,
    monitorPort,
    dataDir: path.resolve(cwd, read.text('DATA_DIR') ?? './data'),
    databaseUrl,
    databaseDirectUrl,
    baseUrl,
    sandboxBaseUrl,
    checkoutUrl: read.url('CHECKOUT_URL') ?? baseUrl,
    sandboxCheckoutUrl: read.url('SANDBOX_CHECKOUT_URL') ?? sandboxBaseUrl,
    trustProxy: read.cidrs('TRUST_PROXY'),
    tls,
    redisUrl: readRedisUrl(read.text('REDIS_URL'), problems),
    logLevel: read.choice('LOG_LEVEL', LOG_LEVELS, 'info'),
    production: env['NODE_ENV'] === 'production',
    sandboxCompleteAfterMs: read.integer('SANDBOX_COMPLETE_AFTER_SECONDS', 60, 1, 86_400) * 1000,
    rateLimits: {
      test: read.integer('RATE_LIMIT_TEST', 100, 1, 1_000_000_000),
      live: read.integer('RATE_LIMIT_LIVE', 1000, 1, 1_000_000_000),
      page: read.integer('RATE_LIMIT_PAGE', 600, 1, 1_000_000_000),
    },
    metricsToken: read.text('METRICS_TOKEN'),
    secretKey,
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
  };
  if (problems.length > 0) throw new ConfigError(problems);
  return Object.freeze(config);
}

const NODE_EXAMPLE = 'http://user:password@127.0.0.1:8332';

function reader(env: Readonly<Record<string, string | undefined>>, problems: string[]) {
  const text = (name: string): string | null => {
    const value = env[name]?.trim();
    return value === undefined || value === '' ? null : value;
  };
  const list = (name: string): readonly string[] =>
    (text(name) ?? '')
      .split(',')
      .map((part) => part.trim())
      .filter((part) => part !== '');
  const httpUrl = (name: string, value: string, example: string): URL | null => {
    const url = URL.parse(value);
    if (url !== null && (url.protocol === 'http:' || url.protocol === 'https:')) return url;
    problems.push(`${name} must be an absolute http or https URL, such as ${example}.`);
    return null;
  };
  return {
    text,
    integer(name: string, fallback: number, min: number, max: number): number {
      const value = text(name);
      if (value === null) return fallback;
      const number = /^\d{1,15}$/.test(value) ? Number(value) : NaN;
      if (number >= min && number <= max) return number;
      problems.push(`${name} must be a whole number from ${min} to ${max}, not "${value}".`);
      return fallback;
    },
    choice<Choice extends string>(name: string, choices: readonly Choice[], fallback: Choice): Choice {
      const value = text(name);
      if (value === null) return fallback;
      const choice = choices.find((candidate) => candidate === value);
      if (choice !== undefined) return choice;
      problems.push(`${name} must be one of ${choices.join(', ')}, not "${value}".`);
      return fallback;
    },
    /** A base URL: no query, no fragment, no trailing slash. */
    url(name: string): string | null {
      const value = text(name);
      if (value === null) return null;
      const url = httpUrl(name, value, 'https://pay.shop.example');
      if (url === null) return null;
      if (url.search !== '' || url.hash !== '' || url.username !== '' || url.password !== '') {
        problems.push(`${name} must have no query, fragment or credentials.`);
      }
      return (url.origin + url.pathname).replace(/\/+$/, '');
    },
    urls(name: string): readonly string[] {
      const values = list(name);
      // Not repeated, for it may hold a password.
      const nameOf = (index: number): string =>
        values.length === 1 ? name : `${name}, URL ${index + 1} of ${values.length},`;
      return values.filter((value, index) => httpUrl(nameOf(index), value, NODE_EXAMPLE) !== null);
    },
    cidrs(name: string): readonly string[] | null {
      if (text(name) === null) return null;
      for (const part of list(name)) {
        const parsed = parseCidr(part);
        if (parsed.kind === 'bad') problems.push(`${name}: ${parsed.message}`);
      }
      return list(name);
    },
  };
}

const USUAL_BACKUP_TIME = '03:10';
const USUALLY_KEPT = 14;

/** `BACKUP_DIR` and what goes with it. */
function readBackups(read: ReturnType<typeof reader>, cwd: string, problems: string[]): BackupSchedule | null {
  const folder = read.text('BACKUP_DIR');
  const timeText = read.text('BACKUP_AT');
  const keep = read.integer('BACKUP_KEEP', USUALLY_KEPT, 1, 10_000);
  const passphraseFile = read.text('BACKUP_PASSPHRASE_FILE');
  const at = parseDayTime(timeText ?? USUAL_BACKUP_TIME);
  if (at === null)
    problems.push(`BACKUP_AT must be a time of day in UTC, such as ${USUAL_BACKUP_TIME}, not "${timeText ?? ''}".`);
  if (folder === null && (timeText !== null || passphraseFile !== null)) {
    problems.push('BACKUP_AT and BACKUP_PASSPHRASE_FILE are for backups in BACKUP_DIR, which must be set too.');
  }
  if (folder === null || at === null) return null;
  return {
    folder: path.resolve(cwd, folder),
    at,
    keep,
    passphraseFile: passphraseFile === null ? null : path.resolve(cwd, passphraseFile),
  };
}

/** `<NETWORK>_RPC_URL` and what goes with it, for every network that has one. */
function readNetworks(
  read: ReturnType<typeof reader>,
  utxoChains: UtxoChains,
  cwd: string,
  problems: string[],
): readonly NetworkNodes[] {
  const utxo = (network: UtxoNetwork, urls: readonly string[]): UtxoNodes => {
    const setting = settingOf(network, 'COOKIE_FILE');
    const cookieFile = read.text(setting);
    if (cookieFile !== null && urls.length === 0) {
      const nodes = settingOf(network, 'RPC_URL');
      const example = `http://127.0.0.1:${NETWORK_FACTS[network].rpcPort}`;
      problems.push(`${setting} is for the nodes of ${nodes}, which is not set; set it, such as ${example}.`);
    }
    const chain = utxoChains[network];
    return { family: 'utxo', network, urls, chain, cookieFile: cookieFile && path.resolve(cwd, cookieFile) };
  };
  const evm = (network: EvmNetwork, urls: readonly string[]): EvmNodes => {
    const chainId = read.integer(settingOf(network, 'CHAIN_ID'), NETWORK_FACTS[network].chainId, 1, MAX_CHAIN_ID);
    const tokens = readTokens(network, chainId, read.text(settingOf(network, 'TOKENS')), problems);
    return { family: 'evm', network, urls, chainId, tokens };
  };
  return NETWORKS.map((network) => {
    const urls = read.urls(settingOf(network, 'RPC_URL'));
    return isUtxoNetwork(network) ? utxo(network, urls) : evm(network, urls);
  }).filter(({ urls }) => urls.length > 0);
}

/** `all`, `none`, or names by commas. */
function readRateSources(text: string | null, problems: string[]): readonly string[] {
  if (text === null || text === 'all') return RATE_SOURCES;
  if (text === 'none') return [];
  const names = text.split(',').map((name) => name.trim().toLowerCase());
  if (names.every((name) => RATE_SOURCES.includes(name))) return names;
  problems.push(`RATE_SOURCES must be all, none, or some of ${RATE_SOURCES.join(', ')}, by commas.`);
  return [];
}

/** The built-in contracts are those of the main chain: on another one their addresses mean nothing. */
function readTokens(network: EvmNetwork, chainId: number, text: string | null, problems: string[]): TokenContracts {
  if (text === null) return chainId === NETWORK_FACTS[network].chainId ? EVM_TOKENS[network] : new Map();
  const parsed = parseTokens(text, network);
  if (parsed.kind === 'ok') return parsed.tokens;
  problems.push(parsed.message);
  return new Map();
}

function readMonitorPort(
  read: ReturnType<typeof reader>,
  role: Role,
  taken: readonly number[],
  problems: string[],
): number | null {
  const isAsked = read.text('MONITOR_PORT') !== null;
  const port = read.integer('MONITOR_PORT', 4002, 1, 65_535);
  if (!isAsked && role !== 'worker') return null;
  // A worker has no other port.
  if (role !== 'worker' && taken.includes(port)) {
    problems.push(`MONITOR_PORT is ${port}, which is PORT or SANDBOX_PORT; it must be another.`);
  }
  return port;
}

function readRedisUrl(value: string | null, problems: string[]): string | null {
  if (value === null) return null;
  const url = URL.parse(value);
  if (!/^rediss?:\/\//.test(value)) problems.push('REDIS_URL must begin with redis:// or rediss://.');
  else if (url === null) {
    problems.push(
      'REDIS_URL is no valid URL: after redis:// come, if there are any, user name, password and @, then a host and perhaps a port up to 65535; special characters are written as in a URL, such as %40 for @.',
    );
  }
  return value;
}
