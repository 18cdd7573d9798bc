import { describe, expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

it('PLAIN_HTTP_FROM names networks that may use plain HTTP, none unless it is set', () => {
  const networksOf = (env: Record<string, string>) => readConfig(env, '/srv/cointill').plainHttpFrom;
  expect(networksOf({})).toBe(null);
  expect(networksOf({ PLAIN_HTTP_FROM: '172.16.0.0/12, fd00::/8,10.88.0.1' })).toEqual([
    '172.16.0.0/12',
    'fd00::/8',
    '10.88.0.1/32',
  ]);
});

it.each(['0.0.0.0/0', '::/0', '::ffff:0.0.0.0/96', '10.0.0.0/0'])(
  'PLAIN_HTTP_FROM=%s is refused with a better value, for it includes everybody',
  (all) => {
    expect(problemsOf({ PLAIN_HTTP_FROM: `172.16.0.0/12,${all}` })).toEqual([
      expect.stringMatching(
        /^PLAIN_HTTP_FROM: \S+\/0 includes everybody, so keys .* such as 172\.16\.0\.0\/12 for Docker\.$/,
      ),
    ]);
  },
);

it('PLAIN_HTTP_FROM is refused in production, beside TRUST_PROXY, and where it names no network', () => {
  const PLAIN_HTTP_FROM = '172.16.0.0/12';
  expect(problemsOf({ PLAIN_HTTP_FROM, NODE_ENV: 'production' })).toEqual([
    expect.stringMatching(
      /^PLAIN_HTTP_FROM is only for development, so it cannot be set with NODE_ENV=production\. Remove/,
    ),
  ]);
  expect(problemsOf({ PLAIN_HTTP_FROM, TRUST_PROXY: '127.0.0.1' })).toEqual([
    expect.stringMatching(/^PLAIN_HTTP_FROM and TRUST_PROXY are both set, .* Set only one of them\.$/),
  ]);
  expect(problemsOf({ PLAIN_HTTP_FROM: 'docker0' })).toEqual([
    'PLAIN_HTTP_FROM: "docker0" is not a range such as 10.0.0.0/8 or fd00::/8.',
  ]);
});

describe('MONITOR_HOST', () => {
  const METRICS_TOKEN = 'a-token-of-the-operator';
  const read = (env: Record<string, string>) => readConfig(env, '/srv/cointill');

  it('is this machine alone unless it is set', () => {
    expect(read({ ROLE: 'worker' })).toMatchObject({ monitorHost: '127.0.0.1', monitorPort: 4002, warnings: [] });
    const open = { ROLE: 'worker', MONITOR_HOST: '0.0.0.0', METRICS_TOKEN };
    expect(read(open)).toMatchObject({ monitorHost: '0.0.0.0', monitorPort: 4002, warnings: [] });
    expect(read({ MONITOR_HOST: '::', MONITOR_PORT: '4003', METRICS_TOKEN }).monitorHost).toBe('::');
  });

  it.each(['all', 'api'])('is refused for ROLE=%s without a port to listen on', (role) => {
    expect(problemsOf({ ROLE: role, MONITOR_HOST: '0.0.0.0' })).toEqual([
      'MONITOR_HOST is the address of MONITOR_PORT, so MONITOR_PORT must be set too, for example to 4002. (Only ROLE=worker has this port by itself.)',
    ]);
  });

  it('must be an address or a name, as HOST', () => {
    expect(problemsOf({ ROLE: 'worker', MONITOR_HOST: '0.0.0.0:4002' })).toEqual([
      'MONITOR_HOST must be only an IP address or a host name, such as 127.0.0.1 or 0.0.0.0, not "0.0.0.0:4002".',
    ]);
  });

  it('warns that nobody reads metrics there without METRICS_TOKEN, where others reach it', () => {
    const warningsOf = (MONITOR_HOST: string) => read({ ROLE: 'worker', MONITOR_HOST }).warnings;
    for (const host of ['0.0.0.0', '10.0.0.7', '::', 'worker']) {
      expect(warningsOf(host)).toEqual([
        `MONITOR_HOST is ${host}, where /healthz and /readyz answer everybody, but nobody can read /metrics. Set METRICS_TOKEN to read metrics there with this token.`,
      ]);
    }
    for (const host of ['127.0.0.1', '127.9.9.9', '::1', 'localhost']) expect(warningsOf(host)).toEqual([]);
  });
});
