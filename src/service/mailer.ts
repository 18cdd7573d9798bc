import { createServiceHealth } from '../app/dashboard/health.ts';
import { createNoticing, type Noticing } from '../app/notifications/notice.ts';
import { createMailer, type Mailer } from '../app/notifications/send-mails.ts';
import type { Config } from '../config/config.ts';
import { createMailSender } from '../mail/send.ts';
import type { Cointill } from './core.ts';
import { createSweepWatch } from './sweeps.ts';

/** What sends the service's mails; null: none are sent. */
export function createServiceMailer({ mail, dashboard }: Config, { app, troubles }: Cointill): Mailer | null {
  if (mail === null || dashboard === null) return null;
  return createMailer(app, {
    sender: createMailSender(mail),
    from: mail.from.address,
    siteUrl: dashboard.url,
    troubles,
  });
}

/** What notices what needs attention, for the open tabs of all processes and for mails. */
export function createServiceNoticing(core: Cointill, holder: string): Noticing {
  const serviceHealth = createServiceHealth(core.app, core.networks);
  return createNoticing(core.app, { serviceHealth, sweeps: createSweepWatch(core) }, holder);
}
