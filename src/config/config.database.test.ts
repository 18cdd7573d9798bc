import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

it.each([
  'postgres://one:5432,two:5432/cointill',
  'postgresql://me:s3cr3t@one,two,three/cointill?target_session_attrs=read-write',
  'postgres://cointill@localhost/cointill?host=one,two',
])('several hosts are refused for what they are, and nothing is repeated: %s', (url) => {
  const env = { DATABASE_URL: url, DATABASE_DIRECT_URL: url };
  const rule = 'names several hosts, but Cointill can use only one.';
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

it('an invalid URL with the right beginning is not asked for another beginning', () => {
  const [database] = problemsOf({ DATABASE_URL: 'postgres://u:s3cr3t@h:99999/x' });
  expect(database).toMatch(/^DATABASE_URL is not a valid URL\. Its port must be/);
  for (const url of ['redis://:s3cr3t@', 'redis://u:s3cr3t@h:99999', 'rediss://u:s3 cr3t@h:1:2']) {
    const [redis] = problemsOf({ REDIS_URL: url });
    expect(redis).toMatch(/^REDIS_URL is not a valid URL/);
    expect(redis).not.toContain('s3');
  }
});

it('what is no address of a PostgreSQL is refused, and so is a second way without a first', () => {
  for (const url of ['mysql://db/shop', 'db:5432', '/var/run']) {
    expect(problemsOf({ DATABASE_URL: url })).toEqual([expect.stringContaining('must begin with postgres://')]);
  }
  expect(problemsOf({ DATABASE_DIRECT_URL: 'postgres://db/shop' })).toEqual([
    expect.stringContaining('a second way to the database of DATABASE_URL'),
  ]);
  expect(problemsOf({ DATABASE_READ_URL: 'postgres://db/shop' })).toEqual([
    expect.stringContaining('a standby of the database of DATABASE_URL, which must also be set'),
  ]);
});

it('a mode of TLS that is none, and a file of certificates that cannot be used, are named with what may stand there', async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'cointill-tls-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = path.join(folder, 'none.pem');
  await writeFile(file, 'this is none');
  const problem = (parameters: string): readonly string[] => {
    const url = `postgres://me:s3cr3t@db.example/shop?${parameters}`;
    const problems = problemsOf({ DATABASE_URL: url, DATABASE_DIRECT_URL: url });
    expect(problems.join('')).not.toContain('s3cr3t');
    expect(problems[1]).toBe(problems[0]?.replace(/^DATABASE_URL/, 'DATABASE_DIRECT_URL'));
    return problems.slice(0, 1);
  };
  for (const mode of ['disable', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify']) {
    expect(problem(`sslmode=${mode}`)).toEqual([]);
  }
  for (const mode of ['requir', 'allow', 'REQUIRE', '']) {
    expect(problem(`sslmode=${mode}`)).toEqual([
      `DATABASE_URL: sslmode must be one of disable, prefer, require, verify-ca, verify-full, no-verify, not "${mode}".`,
    ]);
  }
  // The driver goes on in plain text, or takes one of both.
  for (const name of ['SSLMODE', 'sslMode', 'requiressl', 'tls']) {
    expect(problem(`${name}=require`)).toEqual([
      `DATABASE_URL: ${name} is not a parameter. For TLS, set sslmode to one of disable, prefer, require, verify-ca, verify-full, no-verify.`,
    ]);
  }
  expect(problem('sslmode=require&sslmode=disable')).toEqual([
    'DATABASE_URL: sslmode is given more than once. Give it once.',
  ]);
  expect(problem('ssl=maybe')).toEqual(['DATABASE_URL: ssl must be one of true, false, 1, 0, not "maybe".']);
  expect(problem('ssl=false&sslmode=require')).toEqual([
    'DATABASE_URL: ssl and sslmode are both given. Give only sslmode.',
  ]);
  expect(problem('channel_binding=require')).toEqual([expect.stringContaining('needs TLS. Add sslmode=verify-full')]);
  for (const good of [
    'ssl=true',
    'sslmode=require&channel_binding=require',
    'application_name=shop&options=-c%20a=1',
  ]) {
    expect(problem(good)).toEqual([]);
  }
  expect(problem('sslnegotiation=later')).toEqual([expect.stringContaining('one of postgres, direct, not "later"')]);
  for (const name of ['sslrootcert', 'sslcert', 'sslkey']) {
    expect(problem(`sslmode=verify-full&${name}=missing.pem`)).toEqual([
      `DATABASE_URL: ${name}: there is no file /srv/cointill/missing.pem.`,
    ]);
    expect(problem(`sslmode=verify-full&${name}=${file}`)).toEqual([
      expect.stringMatching(`^DATABASE_URL: ${name}: ${file} contains no (certificate|private key) in PEM format`),
    ]);
  }
  expect(problem('sslrootcert=system')).toEqual([expect.stringContaining('leave sslrootcert out')]);
  expect(problem('uselibpqcompat=true&sslmode=verify-ca')).toEqual([expect.stringContaining('needs sslrootcert')]);
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
