import { expect, it } from 'vitest';
import { readConfig } from './config.ts';
import { problemsOf } from './problems.fixture.ts';

const mailOf = (env: Record<string, string>) => readConfig(env, '/srv/cointill').mail;

it('SMTP_URL is read with its user and password as they are, and requires TLS beyond this machine', () => {
  expect(mailOf({})).toBeNull();
  expect(mailOf({ SMTP_URL: 'smtp://payments%40shop.example:p%40ss%2Fw@mail.shop.example' })).toEqual({
    server: {
      host: 'mail.shop.example',
      port: 587,
      tls: 'required',
      login: { user: 'payments@shop.example', password: 'p@ss/w' },
    },
    from: { name: 'Cointill', address: 'payments@shop.example' },
  });
  const from = { MAIL_FROM: 'Shop & Co. <pay@shop.example>' };
  const serverOf = (url: string) => mailOf({ SMTP_URL: url, ...from })?.server;
  expect(serverOf('smtps://a:b@mail.shop.example')).toMatchObject({ port: 465, tls: 'implicit' });
  expect(serverOf('smtp://localhost:1025')).toMatchObject({ port: 1025, tls: 'offered', login: null });
  expect(serverOf('smtp://[::1]:25')).toMatchObject({ host: '::1', tls: 'offered' });
  expect(serverOf('smtp://relay.internal:25?starttls=off')).toMatchObject({ tls: 'off' });
  expect(mailOf({ SMTP_URL: 'smtp://localhost', ...from })?.from).toEqual({
    name: 'Shop & Co.',
    address: 'pay@shop.example',
  });
});

it('the sender follows from DASHBOARD_URL where the user is no address, and mail needs the dashboard', () => {
  const env = { SMTP_URL: 'smtp://relay.internal', DASHBOARD_URL: 'https://pay.shop.example' };
  expect(mailOf(env)?.from).toEqual({ name: 'Cointill', address: 'cointill@pay.shop.example' });
  expect(mailOf({ ...env, DASHBOARD: 'off' })).toBeNull();
});

it.each([
  ['http://mail.shop.example', 'must begin with smtp:// or smtps://'],
  ['smtp://', 'is not a valid URL'],
  ['smtp://a:secret-word@mail.shop.example:99999', 'is not a valid URL'],
  ['smtp://a:secret-word%@mail.shop.example', 'is not a valid URL'],
  ['smtp://secret-word@mail.shop.example', 'must have both a user and a password'],
  ['smtp://a:secret-word@mail.shop.example/inbox', 'must end after the host and port'],
  ['smtp://a:secret-word@mail.shop.example?tls=no', 'must end after the host and port'],
  ['smtp://a:secret-word@mail.shop.example?starttls=off', 'must not have both starttls=off and a password'],
  ['smtps://a:secret-word@mail.shop.example?starttls=off', 'must end after the host and port'],
])('SMTP_URL %s is refused with its rule, and never repeated', (url, rule) => {
  const [problem = '', ...others] = problemsOf({ SMTP_URL: url, MAIL_FROM: 'pay@shop.example' });
  expect(problem).toContain(`SMTP_URL ${rule}`);
  expect(problem).not.toContain('secret-word');
  expect(others).toEqual([]);
});

it.each(['shop.example', 'Shop <pay@shop.example', 'a@b.example, c@d.example', 'Shop\u202E <pay@shop.example>'])(
  'MAIL_FROM %j is refused',
  (from) => {
    expect(problemsOf({ SMTP_URL: 'smtp://localhost', MAIL_FROM: from })).toEqual([
      'MAIL_FROM must be an e-mail address, such as payments@shop.example, or a name and an address, such as Shop <payments@shop.example>.',
    ]);
  },
);

it('MAIL_FROM is asked for where nothing says it, and refused where no mail is sent', () => {
  expect(problemsOf({ SMTP_URL: 'smtp://localhost' })[0]).toMatch(/^MAIL_FROM must be set to the sender of mails/);
  expect(problemsOf({ MAIL_FROM: 'pay@shop.example' })[0]).toMatch(/^MAIL_FROM is set, but SMTP_URL is not/);
});
