import { expect, it } from 'vitest';
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
