import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

function urlOf(env: Record<string, string>): string | undefined {
  return readConfig(env, '/srv/cointill').dashboard?.url;
}

it.each(['https://pay.shop.example/tills', 'https://pay.shop.example/dashboard', 'http://127.0.0.1:4000/a/b/'])(
  'DASHBOARD_URL %s is refused, since the dashboard is at the root of its host alone',
  (url) => {
    const { origin } = new URL(url);
    expect(problemsOf({ DASHBOARD_URL: url })).toEqual([
      `DASHBOARD_URL must have no path, because the dashboard is always at /dashboard of its host. Write ${origin}.`,
    ]);
  },
);

it('DASHBOARD_URL is an origin, with or without a slash at its end', () => {
  expect(urlOf({ DASHBOARD_URL: 'https://pay.shop.example/' })).toBe('https://pay.shop.example');
  expect(urlOf({ DASHBOARD_URL: 'https://pay.shop.example:8443' })).toBe('https://pay.shop.example:8443');
});

it('without DASHBOARD_URL the dashboard is on the host of BASE_URL, whatever path that has', () => {
  expect(urlOf({ BASE_URL: 'https://pay.shop.example' })).toBe('https://pay.shop.example');
  expect(urlOf({ BASE_URL: 'https://shop.example/payments' })).toBe('https://shop.example');
});
