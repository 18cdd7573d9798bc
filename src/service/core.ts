import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Client } from 'pg';
import type { Logger } from 'pino';
import { chainRail } from '../modes/live-rail.ts';
import { newProcessMemory, type App } from '../app/context.ts';
import type { Observer } from '../app/observer.ts';
import type { ServiceClock } from '../app/service-clock.ts';
import { sandboxRail } from '../modes/sandbox-rail.ts';
import type { Config } from '../config/config.ts';
import { allTokens, type Token } from '../domain/asset.ts';
import { pow10 } from '../domain/money.ts';
import { nativeAsset, type Network } from '../domain/networks.ts';
import type { Mode } from '../domain/permission.ts';
import type { Problems } from '../domain/problems.ts';
import { DEFAULT_POLICY } from '../domain/transition.ts';
import { createDocumentRenderer, type DocumentRenderer } from '../documents/renderer.ts';
import { createAddressThread } from '../rails/address-thread.ts';
import { createAddressesAhead } from '../rails/addresses-ahead.ts';
import type { DeriveAddresses } from '../rails/derive-addresses.ts';
import { rulesOf, type NetworkNodes } from '../rails/networks.ts';
import type { UtxoChains } from '../rails/family.ts';
import { createWalletOpener, type WalletOpener } from '../rails/wallet.ts';
import { fixedRates, testRates } from '../rates/fixed.ts';
import type { RateSource } from '../rates/source.ts';
import {
  namingSetting,
  checkNotEmpty,
  checkPool,
  checkSameDatabase,
  checkWrites,
  isEmptyDatabase,
} from '../store/backups/check-database.ts';
import { openDatabase, type DatabaseHandle } from '../store/database.ts';
import { openServer } from '../backup/database.ts';
import { refuseMovedPostgres } from '../backup/moved-database.ts';
import { migrate } from '../store/migrate.ts';
import { findNeighbour } from '../store/own-schema.ts';
import { holdPresence, type Presence } from '../store/presence.ts';
import { UnfitDatabaseError } from '../store/unfit-database.ts';
import { logActivities } from './activity-lines.ts';
import { logProblems } from './log.ts';
import { openSealingKeys, replacingKeys } from './sealing-key.ts';
import type { WebhookPolicy } from '../webhooks/guard.ts';
import { KEY_FILE_NAME, type SealingKeys } from '../webhooks/secret.ts';

/** The parts that the service and every command share: the migrated database and the use cases' context. */
export interface Cointill {
  readonly app: App;
  readonly handle: DatabaseHandle;
  /**
   * The keys of the webhook secrets; the first one is made at the first use if there is none.
   *
   * @throws SealingKeyError if the database belongs to another key, unless that key is `lost`
   */
  readonly sealingKeys: (options?: { readonly lost: boolean }) => Promise<SealingKeys>;
  readonly policyOf: (mode: Mode) => WebhookPolicy;
  /** The networks that the service follows. */
  readonly networks: readonly Network[];
  readonly networkConfigs: readonly NetworkNodes[];
  readonly log: Logger;
  readonly problems: Problems;
  readonly chains: UtxoChains;
  /** The highest fee rate of a refund, in the smallest units per virtual byte. */
  readonly maxFeeRate: number;
  readonly openWallet: WalletOpener;
  /** Derives on a thread of its own. */
  readonly derive: DeriveAddresses;
  /** Derives the addresses of payments, the next ones ahead of time. */
  readonly nextAddresses: DeriveAddresses;
  /** Renders invoices on a thread of its own. */
  readonly renderer: DocumentRenderer;
  close(): Promise<void>;
}

/** The time that a first start may take from making its database to migrating it. */
const FIRST_START_MS = 10_000;

interface CoreParts {
  /** Default: the machine's own clock. */
  readonly clock?: ServiceClock;
  /** The prices of live mode. Default: the fixed ones alone, enough for a command that makes no quotes. */
  readonly rates?: RateSource;
  /** Receives the activities beside the log. */
  readonly observer?: Observer;
  readonly problems?: Problems;
  /** Whether an empty database may be migrated. Default: true. */
  readonly mayCreate?: boolean;
  /** The name of the process in `pg_stat_activity`. Default: `cointill`. */
  readonly applicationName?: string;
}

/**
 * Opens the database (starting or joining the embedded one), migrates it, and creates the use cases' context.
 *
 * @throws EmptyDatabaseError if the database is empty and `mayCreate` is false
 */
export async function openCointill(config: Config, log: Logger, parts: CoreParts = {}): Promise<Cointill> {
  const { problems = logProblems(log) } = parts;
  const server = await openServer(config, log);
  const handle = openDatabase(server.connection, {
    maxConnections: config.databasePool,
    direct: server.direct,
    standby: server.standby,
    onError: (error) => problems.happened('a database connection', error),
    ...(parts.applicationName === undefined ? {} : { applicationName: parts.applicationName }),
  });
  const openWallet = createWalletOpener(config.utxoChains);
  const thread = createAddressThread(config.utxoChains);
  const { derive } = thread;
  const ahead = createAddressesAhead(derive);
  const wallets = { openWallet, derive, nextAddresses: ahead.take };
  const renderer = createDocumentRenderer(fontFolder(config));
  let presence: Presence | null = null;
  const close = async (): Promise<void> => {
    ahead.stop();
    await Promise.all([thread.stop(), renderer.stop()]);
    await presence?.stop();
    await handle.close();
    await server.stop();
  };
  try {
    presence = await prepareDatabase(config, handle, log, problems, parts.mayCreate ?? true);
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
  const lines = logActivities(log, problems);
  const observer: Observer = (activity) => {
    lines(activity);
    parts.observer?.(activity);
  };
  const app: App = {
    ...createApp(config, handle, wallets, { ...parts, observer }),
    sendsMail: config.mail !== null,
  };
  const policyOf = (mode: Mode): WebhookPolicy => ({
    mode,
    production: config.production,
    allowCidrs: config.webhookAllowCidrs,
  });
  const networks = config.networks.map(({ network }) => network);
  return {
    app,
    handle,
    sealingKeys: async ({ lost } = { lost: false }) => (lost ? replacingKeys : openSealingKeys)(handle.db, config),
    policyOf,
    networks,
    networkConfigs: config.networks,
    log,
    problems,
    chains: config.utxoChains,
    maxFeeRate: config.maxFeeRate,
    ...wallets,
    renderer,
    close,
  };
}

/** The operator's own fonts for characters that the bundled ones lack; null if there is no such folder. */
function fontFolder({ dataDir }: Config): string | null {
  const folder = path.join(dataDir, 'fonts');
  return existsSync(folder) ? folder : null;
}

function createApp(
  config: Config,
  handle: DatabaseHandle,
  wallets: Pick<Cointill, 'openWallet' | 'derive' | 'nextAddresses'>,
  { rates = fixedRates(config.fixedRates), observer, clock }: Pick<CoreParts, 'rates' | 'observer' | 'clock'>,
): App {
  const sandbox = sandboxRail(testRates(), config.sandboxCompleteAfterMs);
  const chains = chainRail({
    db: handle.db,
    rates,
    tokens: followedTokens(config.networks),
    ...wallets,
    payoutChain: (network) => rulesOf(network).payoutChain(config.utxoChains),
    evmChain: ({ network, asset }) => {
      const chain = config.networks.find((one) => one.network === network);
      if (chain?.family !== 'evm') return null;
      return { chainId: chain.chainId, contract: chain.tokens.get(asset)?.contract ?? null };
    },
  });
  const rails = { test: sandbox, live: chains };
  return {
    db: handle.db,
    clock: clock?.now ?? Date.now,
    clockState: clock?.state,
    random: pooledRandom(),
    railFor: (mode) => rails[mode],
    links: { checkoutUrl: { live: config.checkoutUrl, test: config.sandboxCheckoutUrl } },
    policy: { ...DEFAULT_POLICY, monitoringMs: config.monitoringMs },
    memory: newProcessMemory(),
    observer,
  };
}

/** The tokens on the configured networks, most popular first. */
function followedTokens(networks: readonly NetworkNodes[]): readonly Token[] {
  const configs = new Map(networks.map((one) => [one.network, one]));
  return allTokens().flatMap((token) => {
    const config = configs.get(token.network);
    if (config === undefined) return [];
    if (token.asset === nativeAsset(token.network)) return [token];
    const contract = config.family === 'evm' ? config.tokens.get(token.asset) : undefined;
    if (contract === undefined) return [];
    // The operator's own contract may have other decimals than the well-known one.
    const { decimals } = contract;
    return [{ ...token, decimals, dustUnits: (token.dustUnits * pow10(decimals)) / pow10(token.decimals) }];
  });
}

/**
 * Random bytes cut from a larger draw: asking the operating system for ten at a time takes longer than making an id
 * from them.
 */
function pooledRandom(): (size: number) => Uint8Array {
  const POOL_BYTES = 8192;
  let pool = Buffer.alloc(0);
  let used = 0;
  return (size) => {
    if (size > POOL_BYTES) return randomBytes(size);
    if (used + size > pool.length) {
      pool = randomBytes(POOL_BYTES);
      used = 0;
    }
    used += size;
    return pool.subarray(used - size, used);
  };
}

const PRESENCE = 'the lock that keeps the database from being moved';

/**
 * Refuses to begin a new shop on an empty server while DATA_DIR has a database, which somebody wants there, or beside
 * another installation with that one's key.
 */
async function refuseSecond({ dataDir, secretKey }: Config, client: Client): Promise<void> {
  if (!(await isEmptyDatabase(client))) return;
  const hasKey = secretKey === null && existsSync(path.join(dataDir, KEY_FILE_NAME));
  const neighbour = hasKey ? await findNeighbour(client) : null;
  if (neighbour !== null) {
    throw new UnfitDatabaseError(
      `The schema that DATABASE_URL leads to is empty, and the ${KEY_FILE_NAME} in DATA_DIR ${dataDir} belongs to another installation, such as that in the schema ${neighbour}. Set DATA_DIR to a folder of this installation’s own, or set SECRET_KEY.`,
    );
  }
  if (!existsSync(path.join(dataDir, 'postgres'))) return;
  throw new UnfitDatabaseError(
    `The database that DATABASE_URL names is empty, and DATA_DIR ${dataDir} has a database. Move that one with: cointill move --to postgres://… (without DATABASE_URL), or set DATA_DIR to another folder to begin anew.`,
  );
}

/**
 * Checks that an external database is the intended one, takes writes and was not moved, then migrates the database.
 * Nobody can move it from then on.
 */
async function prepareDatabase(
  config: Config,
  handle: DatabaseHandle,
  log: Logger,
  problems: Problems,
  mayCreate: boolean,
): Promise<Presence> {
  const setting = config.databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  const client = await namingSetting(setting, handle.connect());
  let presence: Presence | null = null;
  try {
    if (config.databaseUrl !== null) {
      await checkWrites(client, setting);
      await namingSetting('DATABASE_URL', checkPool(handle.db));
      if (config.databaseDirectUrl !== null) await checkSameDatabase(client, handle.db);
    }
    presence = await holdPresence(handle, (refusal) =>
      refusal === null ? problems.works(PRESENCE) : problems.failed(PRESENCE, refusal.message),
    );
    if (config.databaseUrl !== null) await refuseMovedPostgres(client);
    // An embedded database that is empty is at its first start, in another process; an external one is a mistake.
    if (!mayCreate) await checkNotEmpty(client, config.databaseUrl === null ? FIRST_START_MS : 0);
    else if (config.databaseUrl !== null) await refuseSecond(config, client);
    const applied = await migrate(client, {
      onWait: (waiting) => log.warn(waiting, 'a migration waits for a table that another process is using'),
    });
    if (applied.length > 0) log.info({ migrations: applied }, 'brought the database up to date');
    return presence;
  } catch (error) {
    await presence?.stop();
    throw error;
  } finally {
    await client.end();
  }
}
