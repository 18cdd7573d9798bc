import { expect, it } from 'vitest';
import { ConfigError, readConfig } from './config.ts';

function problemsOf(env: Record<string, string>): readonly string[] {
  try {
    readConfig(env, '/srv/cointill');
    return [];
  } catch (error) {
    if (error instanceof ConfigError) return error.problems;
    throw error;
  }
}

it.each([
  'postgres://one:5432,two:5432/cointill',
  'postgresql://me:s3cr3t@one,two,three/cointill?target_session_attrs=read-write',
  'postgres://cointill@localhost/cointill?host=one,two',
])('several hosts are refused for what they are, and nothing is repeated: %s', (url) => {
  const env = { DATABASE_URL: url, DATABASE_DIRECT_URL: url };
  const rule = 'names several hosts, of which only one can be given yet.';
  expect(problemsOf(env)).toEqual([
    expect.stringContaining(`DATABASE_URL ${rule}`),
    expect.stringContaining(`DATABASE_DIRECT_URL ${rule}`),
  ]);
  expect(problemsOf(env).join('')).not.toMatch(/s3cr3t|postgres:/);
});

it('a comma that is no second host is none', () => {
  for (const url of ['postgres://me:a,b@one/cointill', 'postgres://%2Fsrv%2Fa/cointill?options=-c%20a=1,2']) {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([]);
  }
});

it('what is no address of a PostgreSQL is refused, and so is a second way without a first', () => {
  for (const url of ['mysql://db/shop', 'db:5432', '/var/run']) {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([expect.stringContaining('must begin with postgres://')]);
  }
  expect(problemsOf({ DATABASE_DIRECT_URL: 'postgres://db/shop' })).toEqual([
    expect.stringContaining('DATABASE_URL, which must be set too'),
  ]);
});

it('the port for monitoring is a worker’s by default, anybody’s when it is set, and never one of the API’s', () => {
  const port = (env: Record<string, string>) => readConfig(env, '/').monitorPort;
  expect(port({})).toBeNull();
  expect(port({ ROLE: 'api' })).toBeNull();
  expect(port({ ROLE: 'worker' })).toBe(4002);
  expect(port({ ROLE: 'worker', MONITOR_PORT: '4000' })).toBe(4000);
  expect(port({ MONITOR_PORT: '9400' })).toBe(9400);
  expect(problemsOf({ MONITOR_PORT: '4001' })).toEqual([expect.stringContaining('MONITOR_PORT is 4001')]);
});
