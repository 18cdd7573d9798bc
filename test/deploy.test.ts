import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { SETTINGS } from '../scripts/image.ts';
import { COMMAND_GROUPS } from '../src/config/called-as.ts';
import { readConfig } from '../src/config/config.ts';
import { parseEnvFile } from '../src/config/env-file.ts';
import { settingsRead } from './settings-read.ts';

const DEPLOY = path.join(import.meta.dirname, '../deploy');
const read = (file: string): string => readFileSync(path.join(DEPLOY, file), 'utf8');
const known = settingsRead();
/** Names in containers that belong to Node.js and our own start, or to Debian. */
const OTHERS: ReadonlySet<string> = new Set(Object.keys(SETTINGS));
const unknown = (names: readonly string[]): readonly string[] =>
  names.filter((name) => !known.has(name) && !OTHERS.has(name));
/** A secret that is long enough for every rule. */
const SECRET = 'a'.repeat(40);
const DIGEST = /@sha256:[0-9a-f]{64}$/;

/** Replaces variables as Compose does: `$NAME`, `${NAME:-default}` and `${NAME:+instead}`, which may be nested. */
function interpolated(text: string, env: Readonly<Record<string, string>>): string {
  const VARIABLE = /\$\$|\$(?:\{(\w+)(?:(:[-+])((?:[^{}$]|\$\w+|\$\{[^{}]*\})*))?\}|(\w+))/g;
  return text.replaceAll(VARIABLE, (found, braced: string | undefined, operator, more: string, bare: string) => {
    if (found === '$$') return '$';
    const value = env[braced ?? bare] ?? '';
    if (operator === ':-') return value === '' ? interpolated(more, env) : value;
    if (operator === ':+') return value === '' ? '' : interpolated(more, env);
    return value;
  });
}

describe('the Dockerfile', () => {
  const text = read('container/Dockerfile');

  it('adds to the tree the settings of the image that the tests run', () => {
    const [, block = ''] = /^ENV ((?:.*\\\n)*.*)$/m.exec(text) ?? [];
    const env = Object.fromEntries(
      [...block.matchAll(/(\w+)=(?:"([^"]*)"|(\S+))/g)].map(([, name = '', quoted, bare]) => [name, quoted ?? bare]),
    );
    expect(env).toEqual(SETTINGS);
  });

  it('is built from an image that is pinned, and has none below itself', () => {
    const bases = [...text.matchAll(/^FROM (\S+)/gm)].map(([, base = '']) => base);
    expect(bases).toEqual([expect.stringMatching(DIGEST), 'scratch']);
  });
});

interface ComposeService {
  readonly image: string;
  readonly build?: object;
  readonly scale?: string;
  readonly ports?: readonly string[];
  readonly environment?: Readonly<Record<string, string | null>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
}

describe.each([
  ['on this machine', {}],
  ['for everybody', { DOMAIN: 'pay.shop.example' }],
])('compose.yml, %s', (_, given: Readonly<Record<string, string>>) => {
  const text = interpolated(read('compose.yml'), given);
  const { services }: { readonly services: Readonly<Record<string, ComposeService>> } = parse(text);
  const ours = services['cointill'];
  const { settings: fromFile } = parseEnvFile(
    read(/path: (container\/settings\S*\.env)/.exec(text)?.[1] ?? 'container/none'),
  );
  const set = Object.entries({ ...SETTINGS, ...fromFile, ...ours?.environment });
  const env = Object.fromEntries(set.map(([name, value]) => [name, value ?? '']));

  it('gives the service settings that it knows and takes', () => {
    expect(unknown(Object.keys(env))).toEqual([]);
    const { DATABASE_URL_FILE: url, SECRET_KEY_FILE: key, ...plain } = env;
    expect([url, key]).toEqual(['/secrets/database_url', '/secrets/secret_key']);
    const config = readConfig(
      { ...plain, DATABASE_URL: 'postgres://cointill:x@postgres/cointill', SECRET_KEY: SECRET },
      '/',
    );
    const isPublic = given['DOMAIN'] !== undefined;
    expect([config.production, config.baseUrl, config.sandboxBaseUrl]).toEqual(
      isPublic
        ? [true, 'https://pay.shop.example', 'https://sandbox.pay.shop.example']
        : [false, 'http://localhost:4000', 'http://localhost:4001'],
    );
    expect([config.trustProxy === null, config.warnings]).toEqual([!isPublic, []]);
  });

  it('publishes the service on this machine alone, and a proxy only where a domain is given', () => {
    expect(ours?.ports).toEqual(['127.0.0.1:4000:4000', '127.0.0.1:4001:4001']);
    expect(Number(services['caddy']?.scale)).toBe(given['DOMAIN'] === undefined ? 0 : 1);
    expect(text.includes('pay.shop.example {')).toBe(given['DOMAIN'] !== undefined);
  });

  it('pins the images of others, and writes nowhere but to volumes', () => {
    const others = Object.values(services).filter(({ build }) => build === undefined);
    expect(others.map(({ image }) => image).filter((image) => !DIGEST.test(image))).toEqual([]);
    for (const [name, service] of Object.entries(services)) {
      // Compose writes Caddy's file into it.
      const isReadOnly = name === 'caddy' ? undefined : true;
      expect([name, service.read_only, service.cap_drop]).toEqual([name, isReadOnly, ['ALL']]);
    }
  });

  it('checks health by a command that there is', () => {
    const [how, program, command] = ours?.healthcheck?.test ?? [];
    expect([how, program]).toEqual(['CMD', 'cointill']);
    expect(COMMAND_GROUPS).toContain(command);
  });
});

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
}
interface Container {
  readonly env: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly readinessProbe: Probe;
  readonly livenessProbe: Probe;
}
interface Resource {
  readonly kind: string;
  readonly metadata: { readonly name: string };
  readonly data?: Readonly<Record<string, string>>;
  readonly stringData?: Readonly<Record<string, string>>;
  readonly spec?: {
    readonly replicas?: number;
    readonly template?: {
      readonly spec: { readonly terminationGracePeriodSeconds: number; readonly containers: readonly [Container] };
    };
  };
}

describe('kubernetes/cointill.yml', () => {
  const resources = parseAllDocuments(read('kubernetes/cointill.yml')).map((one): Resource => one.toJS());
  const { data = {} } = resources.find(({ kind }) => kind === 'ConfigMap') ?? {};
  const { stringData = {} } = resources.find(({ kind }) => kind === 'Secret') ?? {};
  const deployments = resources.filter(({ kind }) => kind === 'Deployment');

  it('has two processes of each role, with settings that they know and take', () => {
    expect(deployments.map(({ metadata, spec }) => [metadata.name, spec?.replicas])).toEqual([
      ['api', 2],
      ['worker', 2],
    ]);
    for (const { metadata, spec } of deployments) {
      const own = spec?.template?.spec.containers[0].env ?? [];
      const env = Object.fromEntries(
        own.map(({ name, value }) => [name, value ?? 'postgres://cointill:x@database-rw/cointill']),
      );
      // Every secret has to be replaced before the program takes it.
      const all = { ...SETTINGS, ...data, ...stringData, ...env };
      expect(() => readConfig(all, '/')).toThrow(/SECRET_KEY[^]*METRICS_TOKEN|METRICS_TOKEN[^]*SECRET_KEY/);
      expect(unknown(Object.keys(all))).toEqual([]);
      const config = readConfig({ ...all, SECRET_KEY: SECRET, METRICS_TOKEN: SECRET }, '/');
      expect([config.role, config.production, config.warnings]).toEqual([metadata.name, true, []]);
      // SIGTERM to the end: draining, and ten seconds for what is under way.
      expect(spec?.template?.spec.terminationGracePeriodSeconds).toBeGreaterThanOrEqual(config.drainMs / 1000 + 10);
    }
  });

  it('asks the port for monitoring, which answers from other machines, at paths that it has', () => {
    for (const { spec } of deployments) {
      const [container] = spec?.template?.spec.containers ?? [];
      if (container === undefined) throw new Error('A deployment has no container.');
      const port = container.ports.find(({ name }) => name === 'monitor')?.containerPort;
      expect([String(port), data['MONITOR_HOST']]).toEqual([data['MONITOR_PORT'], '0.0.0.0']);
      const { startupProbe, readinessProbe, livenessProbe } = container;
      expect([startupProbe, readinessProbe, livenessProbe].map(({ httpGet }) => httpGet)).toEqual(
        ['/healthz', '/readyz', '/healthz'].map((place) => ({ path: place, port: 'monitor' })),
      );
    }
  });
});
