import { randomBytes } from 'node:crypto';
import type { Logger } from 'pino';
import { chainRail } from '../modes/live-rail.ts';
import type { App } from '../app/context.ts';
import type { Observer } from '../app/observer.ts';
import type { ServiceClock } from '../app/service-clock.ts';
import { sandboxRail } from '../modes/sandbox-rail.ts';
import type { Config } from '../config/config.ts';
import { allTokens, type Token } from '../domain/asset.ts';
import { pow10 } from '../domain/money.ts';
import { nativeAsset, type Network } from '../domain/networks.ts';
import type { Mode } from '../domain/permission.ts';
import type { Troubles } from '../domain/trouble.ts';
import { DEFAULT_POLICY } from '../domain/transition.ts';
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
} from '../store/backups/check-database.ts';
import { openDatabase, type DatabaseHandle } from '../store/database.ts';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { migrate } from '../store/migrate.ts';
import { logActivities } from './activity-lines.ts';
import { logTroubles } from './log.ts';
import { openSealingKey } from './sealing-key.ts';
import type { WebhookPolicy } from '../webhooks/guard.ts';
import { loadSealingKey } from '../webhooks/secret.ts';

/** What the service and every command share: the migrated database and the use cases' context. */
export interface Cointill {
  readonly app: App;
  readonly handle: DatabaseHandle;
  /**
   * The key of the webhook secrets, created at first use if there is none.
   *
   * @throws SealingKeyError if the database belongs to another key, unless that one is `lost`
   */
  readonly sealingKey: (options?: { readonly lost: boolean }) => Promise<Uint8Array>;
  readonly policyOf: (mode: Mode) => WebhookPolicy;
  /** The networks that the service follows. */
  readonly networks: readonly Network[];
  readonly networkConfigs: readonly NetworkNodes[];
  readonly log: Logger;
  readonly troubles: Troubles;
  readonly chains: UtxoChains;
  /** In the smallest units per virtual byte. */
  readonly maxFeeRate: number;
  readonly openWallet: WalletOpener;
  /** On a thread of its own. */
  readonly derive: DeriveAddresses;
  /** The same for the addresses of payments, of which the next ones are derived ahead of time. */
  readonly nextAddresses: DeriveAddresses;
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 16;
/** How long a first start may take from making its database to migrating it. */
const FIRST_START_MS = 10_000;

interface CoreParts {
  /** The machine's own clock unless given. */
  readonly clock?: ServiceClock;
  readonly rates?: RateSource;
  readonly observer?: Observer;
  readonly troubles?: Troubles;
  readonly mayCreate?: boolean;
  /** As in {@link openDatabase}. */
  readonly applicationName?: string;
}

/**
 * Opens the database (starting or joining the embedded one) and creates the use cases' context. `rates` are live mode's
 * prices; a command that makes no quotes does without market prices. Activities go to the log and to `observer`. An
 * empty database is migrated only with `mayCreate`.
 *
 * @throws EmptyDatabaseError without it
 */
export async function openCointill(config: Config, log: Logger, parts: CoreParts = {}): Promise<Cointill> {
  const { troubles = logTroubles(log) } = parts;
  const embedded =
    config.databaseUrl === null
      ? await startEmbeddedPostgres({
          dataDir: config.dataDir,
          log: (level, message, details) => log[level](details ?? {}, message),
        })
      : null;
  const handle = openDatabase(
    config.databaseUrl === null ? required(embedded).connection : { connectionString: config.databaseUrl },
    {
      maxConnections: MAX_CONNECTIONS,
      direct: config.databaseDirectUrl === null ? undefined : { connectionString: config.databaseDirectUrl },
      onError: (error) => troubles.happened('a database connection', error),
      ...(parts.applicationName === undefined ? {} : { applicationName: parts.applicationName }),
    },
  );
  const openWallet = createWalletOpener(config.utxoChains);
  const thread = createAddressThread(config.utxoChains);
  const { derive } = thread;
  const ahead = createAddressesAhead(derive);
  const wallets = { openWallet, derive, nextAddresses: ahead.take };
  const close = async (): Promise<void> => {
    ahead.stop();
    await thread.stop();
    await handle.close();
    await embedded?.stop();
  };
  try {
    await prepareDatabase(config, handle, log, parts.mayCreate ?? true);
  } catch (error) {
    await close().catch(() => {});
    throw error;
  }
  const lines = logActivities(log, troubles);
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
    sealingKey: async ({ lost } = { lost: false }) =>
      lost ? loadSealingKey(config) : openSealingKey(handle.db, config),
    policyOf,
    networks,
    networkConfigs: config.networks,
    log,
    troubles,
    chains: config.utxoChains,
    maxFeeRate: config.maxFeeRate,
    ...wallets,
    close,
  };
}

function required<Value>(value: Value | null): Value {
  if (value === null) throw new Error('A part that was to be started is missing.');
  return value;
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
    // The operator's own contract may have other decimals than the well-known one.
    const scale = contract === undefined ? 0 : contract.decimals - token.decimals;
    return contract === undefined
      ? []
      : [
          {
            ...token,
            decimals: contract.decimals,
            dustUnits: (token.dustUnits * pow10(Math.max(0, scale))) / pow10(Math.max(0, -scale)),
          },
        ];
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

/** Checks that an external database is the intended one and takes writes, and migrates it. */
async function prepareDatabase(config: Config, handle: DatabaseHandle, log: Logger, mayCreate: boolean): Promise<void> {
  const setting = config.databaseDirectUrl === null ? 'DATABASE_URL' : 'DATABASE_DIRECT_URL';
  const client = await namingSetting(setting, handle.connect());
  try {
    if (config.databaseUrl !== null) {
      await checkWrites(client, setting);
      await namingSetting('DATABASE_URL', checkPool(handle.db));
      if (config.databaseDirectUrl !== null) await checkSameDatabase(client, handle.db);
    }
    // Only we make a database of our own: one that is empty is at its first start.
    if (!mayCreate) await checkNotEmpty(client, config.databaseUrl === null ? FIRST_START_MS : 0);
    const applied = await migrate(client, {
      onWait: (waiting) => log.warn(waiting, 'a migration waits until nobody uses a table that it changes'),
    });
    if (applied.length > 0) log.info({ migrations: applied }, 'brought the database up to date');
  } finally {
    await client.end();
  }
}
