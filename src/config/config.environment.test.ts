import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

it.each(['prod', 'Production', 'staging', 'true'])(
  'NODE_ENV=%s is refused with the words that there are, for it would mean less than production',
  (word) => {
    expect(problemsOf({ NODE_ENV: word })).toEqual([
      `NODE_ENV must be one of production, development, test, not "${word}".`,
    ]);
  },
);

it.each([
  [{}, false],
  [{ NODE_ENV: '' }, false],
  [{ NODE_ENV: 'development' }, false],
  [{ NODE_ENV: 'test' }, false],
  [{ NODE_ENV: 'production' }, true],
  [{ NODE_ENV: 'production\r' }, true],
])('%j means production: %s', (env, production) => {
  expect(readConfig(env, '/srv/cointill').production).toBe(production);
});

it.each([
  'DATABASE_URL',
  'PORT',
  'LOG_LEVEL',
  'BASE_URL',
  'NODE_POLL_MS',
  'SMTP_URL',
  'WEBHOOK_ALLOW_CIDRS',
  'MAIL_FROM',
])('%s with a line break is refused, and none of its lines is told: one may be a secret', (name) => {
  expect(problemsOf({ [name]: 'postgres://db.example/ct\nSECRET_KEY=ABCD' })).toEqual([
    `The value of ${name} contains a line break. Look for a quote that is not closed, and write the value on one line.`,
  ]);
});
