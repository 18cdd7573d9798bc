import { expect, it } from 'vitest';
import { problemsOf } from './problems.fixture.ts';

it.each(['127.0.0.1', '0.0.0.0', '::', '::1', 'fe80::1%eth0', 'localhost', 'till.shop.example', 'my_till'])(
  'HOST may be an address or a name: %s',
  (host) => {
    expect(problemsOf({ HOST: host })).toEqual([]);
  },
);

it.each([
  'foo bar',
  'http://localhost',
  'localhost:4000',
  '[::1]',
  '127.0.0.1:4000',
  '300.1.1.1',
  '127.1',
  '-a',
  'a..b',
])('HOST is named with the other bad settings where it is neither: %s', (host) => {
  expect(problemsOf({ HOST: host, PORT: 'x' })).toEqual([
    'PORT must be a whole number from 1 to 65535, not "x".',
    `HOST must be only an IP address or a host name, such as 127.0.0.1 or 0.0.0.0, not "${host}".`,
  ]);
});
