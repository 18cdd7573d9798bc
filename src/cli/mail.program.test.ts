import { expect, it } from 'vitest';
import { localSmtp } from '../mail/smtp-server.fixture.ts';
import { program } from './program.fixture.ts';

const SENDER = { MAIL_FROM: 'Shop <pay@shop.example>', DASHBOARD_URL: 'https://pay.shop.example' };
const TO = ['mail', 'test', '--to', 'ann@shop.example'] as const;

it('mail test sends a mail now, or says why not and what to set', async () => {
  const smtp = await localSmtp();
  const cointill = await program({ SMTP_URL: smtp.url, ...SENDER });
  expect(await cointill.json(...TO)).toEqual({
    sent: true,
    to: 'ann@shop.example',
    from: 'pay@shop.example',
    server: `127.0.0.1:${smtp.server.port}`,
  });
  expect(smtp.taken).toMatchObject([{ from: 'pay@shop.example', to: ['ann@shop.example'] }]);
  smtp.answer = () => 550;
  const refused = await cointill.run(...TO);
  expect(refused).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The e-mail was not sent\. .*550/) as unknown,
  });
  const unset = await (await program()).run(...TO);
  expect(unset).toMatchObject({ code: 1, stderr: expect.stringContaining('SMTP_URL is not set') as unknown });
});
