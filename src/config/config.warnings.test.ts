import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

const warningsOf = (env: Record<string, string>) => readConfig(env, '/srv/cointill').warnings;

it.each([
  ['BITCION_RPC_URL', 'BITCOIN_RPC_URL'],
  ['TRUSTED_PROXY', 'TRUST_PROXY'],
  ['DATADIR', 'DATA_DIR'],
  ['METRIC_TOKENS', 'METRICS_TOKEN'],
])('%s is no setting, which is said with the one that was probably meant', (name, meant) => {
  expect(warningsOf({ [name]: 'x' })).toEqual([`${name} is not a setting. Did you mean ${meant}?`]);
});

it('nothing is said of what others keep in the environment', () => {
  const others = [
    'HOME',
    'HOSTNAME',
    'PATH',
    'PGHOST',
    'PGPORT',
    'DB_HOST',
    'LOGNAME',
    'MAIL',
    'NODE_PATH',
    'REDIS_PORT',
  ];
  expect(warningsOf(Object.fromEntries(others.map((name) => [name, 'x'])))).toEqual([]);
});

it('a file for a setting that is no secret is ignored, which is said', () => {
  expect(warningsOf({ PORT_FILE: '/run/secrets/port' })).toEqual([
    'PORT_FILE is not a setting, because PORT is not a secret. Set PORT itself.',
  ]);
});

const PUBLIC = { BASE_URL: 'https://pay.shop.example', SANDBOX_BASE_URL: 'https://sandbox.pay.shop.example' };

it.each([
  [{ ...PUBLIC, BASE_URL: 'http://pay.shop.example' }, ['BASE_URL is http://pay.shop.example']],
  [{ HOST: '0.0.0.0' }, ['BASE_URL is http://localhost:4000', 'SANDBOX_BASE_URL is http://localhost:4001']],
  [{ ...PUBLIC, CHECKOUT_URL: 'https://127.0.0.1' }, ['CHECKOUT_URL is https://127.0.0.1']],
  [PUBLIC, []],
])('production with %j warns of links that customers cannot open: %j', (env, said) => {
  const warnings = warningsOf({ ...env, NODE_ENV: 'production' });
  expect(warnings.map((warning) => warning.split(', and customers')[0])).toEqual(said);
  expect(warningsOf(env)).toEqual([]);
});

it.each(['0.0.0.0/0', '::/0', '10.0.0.0/0'])('TRUST_PROXY=%s is named with the other bad settings', (all) => {
  expect(problemsOf({ TRUST_PROXY: `127.0.0.1,${all}`, METRICS_TOKEN: 'x' })).toEqual([
    expect.stringMatching(/^TRUST_PROXY: \S+ includes everybody, .*Give only the addresses of your proxies, such as/),
    'METRICS_TOKEN must have at least 16 characters. Make a token with: openssl rand -base64 32',
  ]);
  expect(problemsOf({ DASHBOARD_ALLOW_CIDRS: all })).toEqual([]);
});
