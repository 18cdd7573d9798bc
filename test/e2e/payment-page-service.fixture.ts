import type { TestDatabase } from '../database.ts';
import { client } from '../program.ts';
import { makePlace, runCommand, startHere, type Running } from './started-program.fixture.ts';

const NO_LIMITS = {
  RATE_LIMIT_TEST: '1000000000',
  RATE_LIMIT_LIVE: '1000000000',
  RATE_LIMIT_PAGE: '1000000000',
  RATE_LIMIT_DASHBOARD: '1000000000',
};
/** Shorter than the usual half hour, so that payments complete by themselves, and far longer than any test. */
const COMPLETE_AFTER_SECONDS = '600';

/** The service on a database and ports of its own, in the test's process, for the tests of a whole file. */
export interface Service {
  readonly live: string;
  readonly sandbox: string;
  readonly projectId: string;
  readonly database: TestDatabase;
  /** Where the dashboard is. */
  readonly dashboard: string;
  /** The link that the first start prints: it opens the dashboard's set-up. */
  readonly setupLink: string;
  /** The API of test mode. */
  readonly api: ReturnType<typeof client>;
  /**
   * Runs a command, its words separated by single spaces, and gives back what it prints as JSON; throws when it fails.
   */
  command(line: string): Promise<unknown>;
  /** Stops the service, which `start` starts again on the same ports. */
  stop(): Promise<void>;
  start(): Promise<void>;
  close(): Promise<void>;
}

/** Starts the service; whoever asks for it closes it. */
export async function startService(settings: Readonly<Record<string, string>> = {}): Promise<Service> {
  const place = await makePlace();
  const { database, live, sandbox } = place;
  // A host name, because passkeys do not work on IP addresses.
  const dashboardUrl = live.replace('127.0.0.1', 'localhost');
  const env = {
    ...place.env,
    DASHBOARD_URL: dashboardUrl,
    SANDBOX_COMPLETE_AFTER_SECONDS: COMPLETE_AFTER_SECONDS,
    ...NO_LIMITS,
    ...settings,
  };
  let running: Running | null = null;
  const start = async (): Promise<string> => {
    running = await startHere(env);
    return running.text();
  };
  const stop = async (): Promise<void> => {
    await running?.end('SIGTERM');
    running = null;
  };
  const banner = await start();
  return {
    live,
    sandbox,
    database,
    projectId: /Project +([0-9a-f-]{36})/.exec(banner)?.[1] ?? '',
    dashboard: `${dashboardUrl}/dashboard`,
    setupLink: /http\S+\/dashboard\/setup\/\S+/.exec(banner)?.[0] ?? '',
    api: client(sandbox, /sk_test_\w+/.exec(banner)?.[0] ?? ''),
    command: (line) => runCommand(env, line),
    stop,
    start: async () => void (await start()),
    close: async () => {
      await stop();
      await place.remove();
    },
  };
}
