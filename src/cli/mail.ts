import { randomUUID } from 'node:crypto';
import type { Command } from 'commander';
import { readConfig } from '../config/config.ts';
import { isEmail } from '../domain/mail-address.ts';
import { composeTestMail } from '../mail/compose.ts';
import { createMailSender, messageIdOf } from '../mail/send.ts';
import { fields } from '../wire/fields.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

/** `cointill mail test`, which needs no database. */
export function addMailCommands(mail: Command): void {
  printsRecord(mail.command('test').description('send a test e-mail now with the current settings'))
    .requiredOption('--to <email>', 'the recipient')
    .action(async (options: OutputOptions & { readonly to: string }) => {
      const to = options.to.trim();
      if (!isEmail(to)) throw new UsageFailure('--to must be an e-mail address such as ann@shop.example.');
      const { mail: settings, dashboard } = readConfig(process.env, process.cwd());
      if (settings === null || dashboard === null) {
        const missing = dashboard === null ? 'DASHBOARD is off' : 'SMTP_URL is not set';
        throw new CommandFailure(
          `No mail was sent, because ${missing}. Set SMTP_URL, here and for the service, to a URL such as smtp://user:password@mail.shop.example:587.`,
        );
      }
      const { server, from } = settings;
      const messageId = messageIdOf(randomUUID(), from.address);
      const mail = { messageId, to, unsubscribeUrl: null, ...composeTestMail(dashboard.url) };
      const outcome = await createMailSender(settings).send(mail);
      if (outcome.kind !== 'sent') throw new CommandFailure(`The e-mail was not sent. ${outcome.problem}`);
      const record = { to, from: from.address, server: `${server.host}:${server.port}` };
      print(options, { sent: true, ...record }, () => [
        ...fields([
          ['To', to],
          ['From', `${from.name} <${from.address}>`],
          ['Server', record.server],
        ]),
        '',
        'The mail server accepted the e-mail. If the e-mail does not arrive, look in the spam folder.',
      ]);
    });
}
