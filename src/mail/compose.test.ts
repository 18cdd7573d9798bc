import { expect, it } from 'vitest';
import { MAIL_LANGUAGES } from '../domain/notification.ts';
import { composeMail } from './compose.ts';
import type { MailContext } from './parts.ts';
import { EVERY_MAIL } from './every-mail.fixture.ts';

const CONTEXT: MailContext = {
  language: 'en',
  zone: 'Europe/Berlin',
  siteUrl: 'https://pay.shop.example',
  link: 'https://pay.shop.example/dashboard/setup/token',
  unsubscribeUrl: 'https://pay.shop.example/dashboard/unsubscribe/token',
};

const EVIL = '<img src=x onerror=alert(1)>\r\nBcc: a@b.example\u202Egnp.exe';

it.each(MAIL_LANGUAGES)('in %s every mail is complete, as text and as HTML, and fetches nothing', (language) => {
  for (const content of EVERY_MAIL) {
    const { subject, text, html } = composeMail(content, { ...CONTEXT, language });
    for (const form of [subject, text, html]) expect(form).not.toMatch(/\{\w+\}|undefined|null|NaN/);
    expect(html).toContain(`lang="${language}"`);
    expect(html).not.toMatch(/<(?:img|script|link|style|iframe)|src=|url\(/);
    expect(text).toContain(
      content.kind === 'invitation' || content.kind === 'email'
        ? CONTEXT.link
        : content.kind === 'account'
          ? `${CONTEXT.siteUrl}/dashboard/account`
          : CONTEXT.unsubscribeUrl,
    );
  }
});

it('what others wrote stays text on one line, whatever it is', () => {
  const evil = JSON.parse(
    JSON.stringify(EVERY_MAIL, (key, value: unknown) =>
      ['by', 'name', 'url', 'detail', 'after'].includes(key) || (key === 'project' && typeof value === 'string')
        ? EVIL
        : value,
    ),
  ) as typeof EVERY_MAIL;
  for (const content of evil) {
    const { subject, text, html } = composeMail(content, CONTEXT);
    expect(subject).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(text).not.toMatch(/^Bcc/m);
    expect(text + html).not.toContain('\u202E');
    expect(html).not.toContain('<img');
  }
});

it('no address in what others wrote becomes a link', () => {
  const name = 'Tea, confirm at https://evil.example/sign-in';
  const named = JSON.parse(
    JSON.stringify(EVERY_MAIL, (key, value: unknown) => (['by', 'name', 'detail'].includes(key) ? name : value)),
  ) as typeof EVERY_MAIL;
  for (const content of named) {
    const { html } = composeMail(content, CONTEXT);
    expect(html.match(/href="https?:\/\/[^/"]*/g)).not.toContain('href="https://evil.example');
  }
});

it('times are those of the recipient, and amounts exact', () => {
  const wallet = EVERY_MAIL.find(({ kind }) => kind === 'wallet_changed');
  const weekly = EVERY_MAIL.find(({ kind }) => kind === 'weekly');
  if (wallet === undefined || weekly === undefined) throw new Error('A mail is missing.');
  expect(composeMail(wallet, { ...CONTEXT, zone: 'Asia/Tokyo' }).text).toContain('Jun 15, 2026, 9:00:00 PM GMT+9');
  expect(composeMail(wallet, { ...CONTEXT, language: 'de' }).text).toContain('15. Juni 2026, 14:00:00 MESZ');
  expect(composeMail(weekly, CONTEXT).text).toContain('€90,071,992,547,409.93');
});

it('amounts of what needs attention are written as people of the language write them', () => {
  const amounts = MAIL_LANGUAGES.map((language) =>
    EVERY_MAIL.filter(({ kind }) => kind === 'attention').map((content) => {
      const { text } = composeMail(content, { ...CONTEXT, language });
      return text.match(/0[.,]0125 ETH/)?.[0] ?? null;
    }),
  );
  expect(new Set(amounts[MAIL_LANGUAGES.indexOf('en')])).toContain('0.0125 ETH');
  expect(new Set(amounts[MAIL_LANGUAGES.indexOf('de')])).toContain('0,0125 ETH');
});
