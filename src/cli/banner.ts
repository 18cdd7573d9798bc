import path from 'node:path';
import { shellWord } from '../config/called-as.ts';
import type { Config } from '../config/config.ts';
import type { Started } from '../service/started.ts';
import { fields } from '../wire/fields.ts';

/**
 * The lines that greet a person who started the service: its addresses, and how to make the first payment. `program` is
 * the name by which they call it, `usualDir` the usual DATA_DIR of their other terminals; null: that name brings all
 * settings along.
 */
export function banner(
  config: Config,
  { addresses, firstStart, dashboard }: Started,
  { program: name, usualDir }: { readonly program: string; readonly usualDir: string | null },
): readonly string[] {
  const { prefix, lacks } = usualDir === null ? NOTHING_CARRIED : carriedSettings(config, usualDir);
  const program = `${prefix}${name}`;
  const serves = config.role !== 'worker';
  const key = firstStart?.key ?? null;
  const lines = [
    '',
    serves ? 'Cointill is running.' : 'Cointill is running its workers (ROLE=worker).',
    '',
    ...fields([
      ['  Sandbox API', serves ? `${addresses.test}  (test keys; no money moves)` : null],
      ['  Live API', serves ? addresses.live : null],
      ['  Documentation', serves ? `${addresses.live}/docs` : null],
      [
        '  Dashboard',
        dashboard === null ? null : dashboard.link + (dashboard.setup === 'by the link' ? SETUP_NOTE : ''),
      ],
      ['  Database', databasePlace(config)],
    ]),
    '',
  ];
  return [
    ...lines,
    ...(firstStart === null || key === null
      ? laterLines(program, firstStart?.projectId ?? 'ID')
      : firstLines(config, addresses, { program, projectId: firstStart.projectId, key })),
    ...(dashboard?.setup === 'by a command' ? [`Dashboard:   ${ownerCommand(program)}`] : []),
    ...(firstStart !== null && key === null && serves
      ? [`First order: ${orderCommand(addresses, 'KEY')}`, '', WITHHELD]
      : []),
    ...(lacks.length === 0 ? [] : ['', `Replace ${lacks.join(' and ')} with the real values. Secrets are not shown.`]),
    '',
    'Stop with Ctrl-C.',
    '',
  ];
}

const NOTHING_CARRIED = { prefix: '', lacks: [] } as const;

/** Follows the link on the same line, so that no line break splits the link. */
const SETUP_NOTE = '  (to set up: works once, for an hour)';

const WITHHELD = 'No key or dashboard link is printed, because this output is kept in a file or a journal.';

function laterLines(program: string, projectId: string): readonly string[] {
  return [
    `Create key:  ${program} key create --project ${projectId} --mode test --kind secret --permission full --name NAME`,
    `Projects:    ${program} project list`,
  ];
}

function firstLines(
  config: Config,
  addresses: Started['addresses'],
  { program, projectId, key }: { readonly program: string; readonly projectId: string; readonly key: string },
): readonly string[] {
  const seconds = config.sandboxCompleteAfterMs / 1000;
  return [
    'This is the first start. Cointill created a project and a test key:',
    '',
    ...fields([
      ['  Project', projectId],
      ['  Secret key', `${key}  (shown only once: save it now)`],
    ]),
    '',
    'To see signed webhooks arrive, run this in a second terminal first:',
    '',
    `  ${program} listen --project ${projectId}`,
    '',
    'Create a first order of 25 USD, to be paid in Bitcoin:',
    '',
    `  ${orderCommand(addresses, key)}`,
    '',
    `Open the payment_url in the response. The order completes by itself after ${seconds} seconds.`,
  ];
}

function orderCommand({ test }: Started['addresses'], key: string): string {
  const body = '{"amount": 25, "currency": "USD", "crypto_currency": "BTC"}';
  return `curl -s ${test}/v1/orders -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' -d '${body}'`;
}

const PROGRAM = path.join(import.meta.dirname, '../../bin/cointill');

/**
 * The message of a start in production, where a supervisor may keep every line forever: no key, only how to create one.
 * `wrapper` is the command that has the service's settings; without one, `command` can be run unchanged by the
 * service's user or root, and with a `DATABASE_URL` needs the service's settings.
 */
export function startRecord(
  config: Config,
  { addresses, firstStart, dashboard }: Started,
  wrapper: string | null,
): object {
  const program = wrapper ?? programOn(config);
  const serves = config.role !== 'worker';
  return {
    role: config.role,
    ...(serves ? { live: addresses.live, sandbox: addresses.test } : {}),
    database: config.databaseUrl === null ? `embedded, in ${config.dataDir}` : 'DATABASE_URL',
    ...(firstStart === null
      ? {}
      : { project: firstStart.projectId, command: keyCommand(program, firstStart.projectId) }),
    ...(dashboard === null ? {} : { dashboard: dashboard.setup === null ? dashboard.link : ownerCommand(program) }),
  };
}

/** The command that makes the link for the first account. */
function ownerCommand(program: string): string {
  return `${program} user invite --email EMAIL --role owner`;
}

function programOn({ databaseUrl, dataDir }: Config): string {
  const where = databaseUrl === null ? `DATA_DIR=${shellWord(dataDir)} ` : '';
  return `${where}${shellWord(PROGRAM)}`;
}

function keyCommand(program: string, projectId: string): string {
  return `${program} key create --project ${projectId} --mode test --kind secret --permission full --name Server`;
}

/** The placeholder for a database's password, which visibly has to be replaced. */
const PASSWORD = 'PASSWORD';

/**
 * The settings that a command of another terminal needs in order to find this service's data, as a shell takes them
 * before a command; empty if there are none. `usualDir` is where a command of that terminal finds an embedded database
 * by itself. A secret in a file is named by its file. All others are left out: `lacks` says which have to be put in.
 */
export function carriedSettings(
  config: Config,
  usualDir: string,
): { readonly prefix: string; readonly lacks: readonly string[] } {
  const { databaseUrl, databaseDirectUrl, dataDir, secretKey, secretKeyPrevious } = config;
  const secrets = {
    DATABASE_URL: databaseUrl,
    DATABASE_DIRECT_URL: databaseDirectUrl,
    SECRET_KEY: secretKey,
    SECRET_KEY_PREVIOUS: secretKeyPrevious,
  };
  const carried = Object.entries(secrets).flatMap(([name, value]) =>
    value === null ? [] : [carriedSecret(name, value, config.secretFiles.get(name) ?? null)],
  );
  const settings = [...(dataDir === usualDir ? [] : [{ name: 'DATA_DIR', shown: dataDir, lacks: null }]), ...carried];
  return {
    prefix: settings.map(({ name, shown }) => `${name}=${shellWord(shown)} `).join(''),
    lacks: [...new Set(settings.flatMap(({ lacks }) => lacks ?? []))],
  };
}

/** A setting of the prefix: a file can be named, while a value appears without its secret, which `lacks` then names. */
function carriedSecret(name: string, value: string, file: string | null) {
  if (file !== null) return { name: `${name}_FILE`, shown: file, lacks: null };
  if (name.startsWith('SECRET_KEY')) return { name, shown: name, lacks: name };
  const shown = withoutSecret(value);
  return { name, shown, lacks: shown === value ? null : PASSWORD };
}

/** The database in words. */
export function databasePlace({ databaseUrl, dataDir }: Pick<Config, 'databaseUrl' | 'dataDir'>): string {
  return databaseUrl === null ? `embedded, in ${dataDir}` : withoutSecret(databaseUrl);
}

/** A URL of a database with PASSWORD in place of what is secret in it; itself if nothing is. */
export function withoutSecret(databaseUrl: string): string {
  const url = URL.parse(databaseUrl);
  if (url === null) return databaseUrl;
  const hidden = ['password', 'sslpassword'].filter((name) => url.searchParams.has(name));
  if (url.password === '' && hidden.length === 0) return databaseUrl;
  if (url.password !== '') url.password = PASSWORD;
  for (const name of hidden) url.searchParams.set(name, PASSWORD);
  return url.href;
}
