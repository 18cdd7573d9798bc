import { EVM_NETWORKS } from '../domain/networks.ts';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { Command } from 'commander';
import type { Logger } from 'pino';
import { calledAs, publicName, wrapperName } from '../config/called-as.ts';
import { ConfigError, readConfig, type Config } from '../config/config.ts';
import { usualDataDir } from '../config/installation.ts';
import { banner, startRecord } from './banner.ts';
import type { Started } from '../service/started.ts';
import { ListenError } from '../http/listen-error.ts';
import { CommandFailure } from './failure.ts';
import { databaseFailure } from './open.ts';
import { isOutputKept, writeLines } from './output.ts';
import { checkPorts, listenFailure } from './ports.ts';
import { untilStopSignal } from './signals.ts';

/** Supervisors give us ten seconds, and DRAIN_SECONDS; after this time, remaining work is left to the next start. */
const STOP_LIMIT_MS = 9_500;

/** Each has the settings of Ethereum under its own name. */
const OTHER_EVM_NETWORKS = EVM_NETWORKS.slice(1)
  .map((network) => network.toUpperCase())
  .join(', ');

const SETTINGS = `
Settings, all optional, from the environment:
  PORT, SANDBOX_PORT, HOST               where the live and the sandbox API listen (4000, 4001, 127.0.0.1)
  MONITOR_PORT                           only health and metrics (4002 for ROLE=worker, else unset)
  MONITOR_HOST                           where this port listens (127.0.0.1: this machine only)
  DATA_DIR, DATABASE_URL                 the data's folder (./data in a checkout); a PostgreSQL server of your own
  DATABASE_DIRECT_URL                    a direct connection past a pooler in transaction mode
  DATABASE_READ_URL                      a standby that exports, statements and backups are read from
  DATABASE_POOL                          the most connections of this process's pool (16)
  BACKUP_DIR, BACKUP_AT, BACKUP_KEEP     a folder for one backup a day; its time (03:10, UTC); how many to keep (14)
  BACKUP_PASSPHRASE_FILE                 encrypts the backups
  BASE_URL, SANDBOX_BASE_URL             public addresses of the APIs
  CHECKOUT_URL, SANDBOX_CHECKOUT_URL     public addresses of the payment page
  TLS_CERT, TLS_KEY, TRUST_PROXY         HTTPS in this process; trusted proxies
  PLAIN_HTTP_FROM                        CIDRs that may also use plain HTTP, for development in a container (none)
  RATE_LIMIT_TEST, RATE_LIMIT_LIVE       requests per minute and key (100, 1000)
  RATE_LIMIT_PAGE, REDIS_URL             views of a page per minute (600); where processes share their limits
  DASHBOARD, DASHBOARD_URL               on or off (on); its public address (BASE_URL)
  DASHBOARD_ALLOW_CIDRS                  networks that may open the dashboard (all)
  RATE_LIMIT_DASHBOARD                   requests per minute and session (1200)
  BITCOIN_RPC_URL, LITECOIN_RPC_URL      nodes of live payments, comma-separated
  BITCOIN_COOKIE_FILE, BITCOIN_CHAIN     for URLs without a password; main, test, testnet4, signet or regtest;
                                         also LITECOIN_COOKIE_FILE, LITECOIN_CHAIN
  MAX_FEE_RATE                           highest fee rate of a refund's PSBT, in satoshi or litoshi per virtual byte (1000)
  ETHEREUM_RPC_URL, ETHEREUM_CHAIN_ID    Ethereum nodes, comma-separated, and their chain (1)
  ETHEREUM_TOKENS                        replace the built-in contracts, such as USDT=0x…:6; all three also for
                                         ${OTHER_EVM_NETWORKS}
  NODE_POLL_MS                           pause between two polls of a node (500 or 1000)
  FIXED_RATES, RATE_SOURCES              prices in USD, such as ETH=3000,BTC=60000; sources of other prices (all)
  RATE_MAX_AGE_SECONDS, MONITORING_HOURS how old a price may be (120); how long ended payments stay watched (168)
  EVENT_DAYS                             how many days events are kept, at least 62 (for ever)
  SANDBOX_COMPLETE_AFTER_SECONDS         how soon test payments complete by themselves (60)
  SMTP_URL, MAIL_FROM                    the mail server, smtp:// or smtps://; the sender (its user)
  SECRET_KEY, METRICS_TOKEN              encrypts webhook secrets (a file in DATA_DIR); lets others read /metrics
  SECRET_KEY_PREVIOUS                    the former key, until cointill secret rotate
  WEBHOOK_ALLOW_CIDRS, LOG_LEVEL         private networks that webhooks may reach; fatal to trace, or silent (info)
  DRAIN_SECONDS                          how long a stopping API still responds, with /readyz 503 (0)
  ROLE, NODE_ENV                         all, api or worker (all); production: HTTPS only

Secrets in files: with _FILE at the end of its name, such as SECRET_KEY_FILE, a setting is the path of a file that
contains the value: DATABASE_URL, DATABASE_DIRECT_URL, DATABASE_READ_URL, REDIS_URL, SECRET_KEY, SECRET_KEY_PREVIOUS,
SMTP_URL, METRICS_TOKEN, …_RPC_URL`;

/** `cointill start`. */
export function addStartCommand(start: Command): void {
  start.addHelpText('after', SETTINGS).action(runService);
}

async function runService(): Promise<void> {
  const config = readConfig(process.env, process.cwd());
  const program = calledAs(process.env, process.cwd());
  const [{ createLogger }, { startService }] = await Promise.all([
    import('../service/log.ts'),
    import('../service/main.ts'),
  ]);
  await checkPassphrase(config);
  const log = createLogger(config.logLevel);
  for (const warning of config.warnings) log.warn(warning);
  if (config.trustProxy !== null && !config.production) log.warn(RELAXED);
  const ending = untilEnd(log);
  const withSecrets = !config.production && !isOutputKept();
  const begun = checkPorts(config).then(() => startService(config, log, { program: publicName(program), withSecrets }));
  // Stopping during a start that hangs must not wait for the start.
  void ending.then(() => limitStop(log, STOP_LIMIT_MS + config.drainMs));
  const service = await begun.catch(async (error: unknown) => {
    throw await startFailure(error, config);
  });
  greet(config, service, log, program);
  setTimeout(releaseMemory, REST_MS).unref();
  const end = await ending;
  log.info({ reason: end }, 'stopping');
  await service.stop();
  log.info('stopped');
  process.exit(end === 'fault' ? 1 : 0);
}

/**
 * Checks the passphrase of the scheduled backups: otherwise a wrong file would be noticed only by the first backup, at
 * night.
 */
async function checkPassphrase({ backups }: Config): Promise<void> {
  if (backups === null || backups.passphraseFile === null) return;
  const [{ passphraseOf }, { asSettings }] = await Promise.all([
    import('./backup.ts'),
    import('../backup/own-process.ts'),
  ]);
  await passphraseOf({ passphraseFile: backups.passphraseFile }).catch((error: unknown) => {
    throw error instanceof CommandFailure ? new ConfigError([asSettings(error.message)]) : error;
  });
}
/** A proxy in front means that other people reach the service. */
const RELAXED =
  'TRUST_PROXY is set without NODE_ENV=production, so test webhooks may go to addresses of this machine, and people can read the responses. Set NODE_ENV=production if other people can reach Cointill through the proxy.';

/** In production a supervisor keeps every line: JSON like the rest of the log, and without a key. */
function greet(config: Config, service: Started, log: Logger, program: string): void {
  if (!config.production) {
    const usualDir = usualDataDir(process.env, process.env['INIT_CWD'] ?? process.cwd());
    // A wrapper, such as that of a container, has the service's settings.
    const isWrapped = wrapperName(process.env) !== null;
    return writeLines(banner(config, service, { program, usualDir: isWrapped ? null : usualDir }));
  }
  const message = 'Cointill is running';
  const firstStep = `${message}; this is the first start, so create a key with the command`;
  log.info(startRecord(config, service, wrapperName(process.env)), service.firstStart === null ? message : firstStep);
}

/**
 * The delay of the garbage collection after the start, so that a client that waited for the start is answered first.
 */
const REST_MS = 1_000;

/**
 * A fifth of the process's memory is garbage after the start, which V8 would keep, because an idle service never
 * collects.
 */
function releaseMemory(): void {
  // Set at run time: as a command-line flag it would make Node.js recompile its own library, a quarter of a command's
  // time.
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
}

/** Resolves when a signal requests the end, or when an uncaught error makes it unsafe to continue. */
function untilEnd(log: Logger): Promise<'signal' | 'fault'> {
  return new Promise((resolve) => {
    const onFault = (error: unknown): void => {
      log.fatal({ err: error }, 'an uncaught error');
      resolve('fault');
    };
    process.on('uncaughtException', onFault);
    process.on('unhandledRejection', onFault);
    void untilStopSignal().then(() => resolve('signal'));
  });
}

function limitStop(log: Logger, limitMs: number): void {
  setTimeout(() => {
    log.error('some work did not end in time and continues after the next start');
    process.exit(1);
  }, limitMs).unref();
}

/** Why the service does not start, in plain words if the cause is an address, a port or a server that it needs. */
async function startFailure(error: unknown, config: Config): Promise<unknown> {
  if (error instanceof ListenError) return new CommandFailure(await listenFailure(error, config), { cause: error });
  return databaseFailure(error, config);
}
