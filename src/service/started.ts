import { makeSetupLink } from '../app/people/links.ts';
import { firstStart, type FirstStart } from '../app/projects/first-start.ts';
import type { Config } from '../config/config.ts';
import { hasPeople } from '../store/people/people.ts';
import type { Cointill } from './core.ts';

/** The facts that a start shows of the service. */
export interface Started {
  readonly addresses: { readonly live: string; readonly test: string };
  /** The project and key of an empty database, to be shown once; no key without `withSecrets`. */
  readonly firstStart: FirstStart | null;
  /** Null: the service has no dashboard. */
  readonly dashboard: StartedDashboard | null;
}

/** The dashboard as a start shows it. */
export interface StartedDashboard {
  /** The dashboard's address, or the link that sets it up, which is a secret. */
  readonly link: string;
  /** Null once somebody has an account. */
  readonly setup: 'by the link' | 'by a command' | null;
}

/**
 * Reads the facts that a start shows. With `withSecrets`, where a person reads the output and no log keeps it, makes a
 * first key and a link that sets the dashboard up.
 */
export async function introduce(config: Config, core: Cointill, withSecrets: boolean): Promise<Started> {
  const addresses = { live: config.baseUrl, test: config.sandboxBaseUrl };
  if (config.role === 'worker') return { addresses, firstStart: null, dashboard: null };
  return {
    addresses,
    firstStart: await firstStart(core.app, { withKey: withSecrets }),
    dashboard: await startedDashboard(config, core, withSecrets),
  };
}

async function startedDashboard(
  { dashboard }: Config,
  { app }: Cointill,
  withSecrets: boolean,
): Promise<StartedDashboard | null> {
  if (dashboard === null) return null;
  const link = `${dashboard.url}/dashboard`;
  if (await hasPeople(app.db)) return { link, setup: null };
  const made = withSecrets ? await makeSetupLink(app, dashboard.url) : null;
  return made === null ? { link, setup: 'by a command' } : { link: made.url, setup: 'by the link' };
}
