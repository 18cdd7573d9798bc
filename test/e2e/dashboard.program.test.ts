import { expect, it } from 'vitest';
import { freePort } from '../ports.ts';
import { browserAt, testService } from '../program.ts';
import { textAt } from '../../src/cli/program.fixture.ts';

const PASSWORD = 'grumpy otter parade';
const SETUP = /Dashboard +(http:\/\/localhost:\d+\/dashboard\/setup\/([\w-]{43}))/;

it('the first start prints a link, which makes the owner; commands work beside the service and without it', async () => {
  const port = String(await freePort());
  const url = `http://localhost:${port}`;
  const own = await testService({ LOG_LEVEL: 'debug', DASHBOARD_URL: url, PORT: port });
  const { running, stop } = await own.start();
  const [, link = '', token = ''] = await running.waitFor(SETUP);
  expect(link).toBe(`${url}/dashboard/setup/${token}`);
  // The log has a line for the link's page, without the token.
  expect((await fetch(link)).status).toBeLessThan(500);
  const owner = browserAt(url);
  expect(await owner('/session')).toMatchObject({
    status: 200,
    body: { state: 'signed_out', has_people: false, passkeys: { offered: true } },
  });
  const email = 'owner@shop.example';
  const accepted = await owner('/links/accept', { token, email, password: PASSWORD });
  expect(accepted).toMatchObject({
    status: 200,
    body: { state: 'signed_in', projects: [{ name: 'My shop', role: 'owner' }] },
  });

  const [session] = (await own.command(`user sessions ${email}`)) as readonly unknown[];
  expect(session).toMatchObject({ ip: expect.stringMatching(/^(?:127\.0\.0\.1|::1)$/) });
  const invited = await own.command('user invite --email ann@shop.example --role viewer');
  const ann = browserAt(url);
  const annToken = textAt(invited, 'link').split('/').at(-1);
  expect(await ann('/links/accept', { token: annToken, password: PASSWORD })).toMatchObject({ status: 200 });
  await own.command('user deactivate ann@shop.example');
  expect(await ann('/session')).toMatchObject({ body: { state: 'signed_out' } });
  const { code, stdout, stderr } = await stop();
  expect(code).toBe(0);
  for (const secret of [PASSWORD, annToken ?? '', 'argon2']) expect(stdout + stderr).not.toContain(secret);
  // It is shown once, in the banner.
  expect((stdout + stderr).split(token)).toHaveLength(2);
  expect(stderr).toContain('/dashboard/setup/…');

  const people = await own.command('user list');
  expect(people).toMatchObject([
    { email, state: 'active' },
    { email: 'ann@shop.example', state: 'deactivated' },
  ]);
  const again = await own.start();
  await again.running.waitFor(new RegExp(`Dashboard +${url}/dashboard\\n`));
  expect(await owner('/session')).toMatchObject({ body: { state: 'signed_in' } });
});

it('in production a start names the command that makes the link, and DASHBOARD=off leaves all of it out', async () => {
  const production = await testService({ NODE_ENV: 'production', DASHBOARD_URL: 'https://pay.shop.example' });
  const started = production.cointill.start('start');
  const [line] = await started.waitFor(/.*Cointill is running.*\n/);
  expect(JSON.parse(line)).toMatchObject({
    dashboard: expect.stringMatching(/ user invite --email EMAIL --role owner$/),
  });
  started.signal('SIGTERM');
  await started.ended;

  const off = await testService({ DASHBOARD: 'off' });
  const { running } = await off.start();
  const [banner] = await running.waitFor(/Cointill is running[^]*Stop with Ctrl-C\./);
  expect(banner).not.toContain('Dashboard');
  for (const path of ['/dashboard', '/dashboard/api/session', '/dashboard/setup/x']) {
    expect((await fetch(off.live + path)).status).toBe(404);
  }
});
