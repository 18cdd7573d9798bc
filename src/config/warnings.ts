import { nearestName } from '../domain/nearest-name.ts';
import { isLoopback } from './addresses.ts';

/** The addresses that customers use. */
interface Links {
  readonly production: boolean;
  readonly checkoutUrl: string;
  readonly sandboxCheckoutUrl: string;
  readonly baseUrl: string;
  readonly sandboxBaseUrl: string;
}

/** The port for monitoring, and who reads metrics there. */
interface Monitor {
  readonly monitorPort: number | null;
  readonly monitorHost: string;
  readonly metricsToken: string | null;
}

/** Warns of settings that the service starts with but that are hardly meant; `known` are the names of all settings. */
export function settingWarnings(
  config: Links & Monitor,
  env: Readonly<Record<string, string | undefined>>,
  known: ReadonlySet<string>,
): readonly string[] {
  return [...localLinks(config), ...hiddenMetrics(config), ...mistypedNames(env, known), ...ignoredFiles(env, known)];
}

/** Warns of links that customers cannot open: without HTTPS, which production requires, or to this machine. */
function localLinks({ production, ...config }: Links): readonly string[] {
  if (!production) return [];
  // Keyed by address, because the addresses of the payment page are those of the APIs unless they are set.
  const links = new Map([
    [config.checkoutUrl, 'CHECKOUT_URL'],
    [config.sandboxCheckoutUrl, 'SANDBOX_CHECKOUT_URL'],
    [config.baseUrl, 'BASE_URL'],
    [config.sandboxBaseUrl, 'SANDBOX_BASE_URL'],
  ]);
  return [...links].flatMap(([link, name]) => {
    const { protocol, hostname } = new URL(link);
    if (protocol === 'https:' && !LOCAL_HOST.test(hostname)) return [];
    return [
      `${name} is ${link}, and customers cannot open links to this address in production. Set ${name} to its public https:// address.`,
    ];
  });
}

const LOCAL_HOST = /^(?:localhost|127(?:\.\d+){3}|0\.0\.0\.0|\[::1?\])$/;

function hiddenMetrics({ monitorPort, monitorHost, metricsToken }: Monitor): readonly string[] {
  if (monitorPort === null || isLoopback(monitorHost) || metricsToken !== null) return [];
  return [
    `MONITOR_HOST is ${monitorHost}, where /healthz and /readyz answer everybody, but nobody can read /metrics. Set METRICS_TOKEN to read metrics there with this token.`,
  ];
}

/** Shorter names, such as HOST, resemble too many other words. */
const LONG_NAME = 6;

function mistypedNames(env: object, known: ReadonlySet<string>): readonly string[] {
  const long = [...known].filter((name) => name.length >= LONG_NAME);
  return Object.keys(env).flatMap((name) => {
    const meant = known.has(name) ? null : nearestName(long, name);
    return meant === null ? [] : [`${name} is not a setting. Did you mean ${meant}?`];
  });
}

function ignoredFiles(env: object, known: ReadonlySet<string>): readonly string[] {
  return Object.keys(env).flatMap((name) => {
    const setting = name.replace(/_FILE$/, '');
    if (setting === name || known.has(name) || !known.has(setting)) return [];
    return [`${name} is not a setting, because ${setting} is not a secret. Set ${setting} itself.`];
  });
}
