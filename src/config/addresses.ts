import { isIP } from 'node:net';
import type { Reader } from './reader.ts';
import { readTlsFiles, type TlsFiles } from './tls.ts';

/** The addresses where the service listens, and those by which others reach it. */
export interface Addresses {
  readonly host: string;
  readonly port: number;
  readonly sandboxPort: number;
  /** A port for health and metrics only; null: none. */
  readonly monitorPort: number | null;
  /** The address of the monitor's port; unless `isLoopback`, others reach it. */
  readonly monitorHost: string;
  readonly baseUrl: string;
  readonly sandboxBaseUrl: string;
  readonly checkoutUrl: string;
  readonly sandboxCheckoutUrl: string;
  /** Addresses and CIDRs of proxies whose `X-Forwarded-*` is trusted; null: none. */
  readonly trustProxy: readonly string[] | null;
  /** CIDRs that may use plain HTTP as this machine may; null: none, as always in production. */
  readonly plainHttpFrom: readonly string[] | null;
  readonly tls: TlsFiles | null;
}

/** Reads the ports, `HOST`, the public addresses, and how clients come: by TLS or through proxies. */
export function readAddresses(
  read: Reader,
  { isWorker, production }: { readonly isWorker: boolean; readonly production: boolean },
  cwd: string,
  problems: string[],
): Addresses {
  const port = read.integer('PORT', 4000, 1, 65_535);
  const sandboxPort = read.integer('SANDBOX_PORT', 4001, 1, 65_535);
  if (port === sandboxPort) problems.push(`PORT and SANDBOX_PORT are both ${port}, but must be different.`);
  const monitorPort = readMonitorPort(read, isWorker, [port, sandboxPort], problems);
  const monitorHost = read.host('MONITOR_HOST');
  if (monitorHost !== null && monitorPort === null) {
    problems.push(
      'MONITOR_HOST is the address of MONITOR_PORT, so MONITOR_PORT must be set too, for example to 4002. (Only ROLE=worker has this port by itself.)',
    );
  }
  const host = read.host('HOST') ?? '127.0.0.1';
  const tls = readTlsFiles(read.text('TLS_CERT'), read.text('TLS_KEY'), cwd, problems);
  const scheme = tls === null ? 'http' : 'https';
  const shownHost = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  const baseUrl = read.url('BASE_URL') ?? `${scheme}://${shownHost}:${port}`;
  const sandboxBaseUrl = read.url('SANDBOX_BASE_URL') ?? `${scheme}://${shownHost}:${sandboxPort}`;
  return {
    host,
    port,
    sandboxPort,
    monitorPort,
    monitorHost: monitorHost ?? '127.0.0.1',
    baseUrl,
    sandboxBaseUrl,
    checkoutUrl: read.url('CHECKOUT_URL') ?? baseUrl,
    sandboxCheckoutUrl: read.url('SANDBOX_CHECKOUT_URL') ?? sandboxBaseUrl,
    trustProxy: readTrustProxy(read, problems),
    plainHttpFrom: readPlainHttpFrom(read, production, problems),
    tls,
  };
}

function readMonitorPort(read: Reader, isWorker: boolean, taken: readonly number[], problems: string[]): number | null {
  const isAsked = read.text('MONITOR_PORT') !== null;
  const port = read.integer('MONITOR_PORT', 4002, 1, 65_535);
  if (!isAsked && !isWorker) return null;
  // A worker has no other port.
  if (!isWorker && taken.includes(port)) {
    problems.push(`MONITOR_PORT is ${port}, but PORT or SANDBOX_PORT is the same. Set MONITOR_PORT to another port.`);
  }
  return port;
}

function readTrustProxy(read: Reader, problems: string[]): readonly string[] | null {
  const proxies = read.cidrs('TRUST_PROXY');
  for (const all of proxies?.filter((one) => one.endsWith('/0')) ?? []) {
    problems.push(
      `TRUST_PROXY: ${all} includes everybody, so anybody could claim any address. Give only the addresses of your proxies, such as 127.0.0.1 or 10.0.0.0/8.`,
    );
  }
  return proxies;
}

function readPlainHttpFrom(read: Reader, production: boolean, problems: string[]): readonly string[] | null {
  const networks = read.cidrs('PLAIN_HTTP_FROM');
  if (networks === null) return null;
  for (const all of networks.filter((one) => one.endsWith('/0'))) {
    problems.push(
      `PLAIN_HTTP_FROM: ${all} includes everybody, so keys and passwords could cross any network unencrypted. Give only the network that your own requests come from, such as 172.16.0.0/12 for Docker.`,
    );
  }
  if (production) {
    problems.push(
      'PLAIN_HTTP_FROM is only for development, so it cannot be set with NODE_ENV=production. Remove PLAIN_HTTP_FROM, and let a proxy with HTTPS pass requests on (TRUST_PROXY).',
    );
  }
  if (read.isSet('TRUST_PROXY')) {
    problems.push(
      'PLAIN_HTTP_FROM and TRUST_PROXY are both set, but behind a proxy every request must have come by HTTPS. Set only one of them.',
    );
  }
  return networks;
}

/** Whether a host, as a setting names it, can be reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}
