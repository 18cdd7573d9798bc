import type { AccountChange } from '../../domain/mail-content.ts';
import type { Trx } from '../../store/database.ts';
import type { Person } from '../../store/people/people.ts';
import { whoActs } from '../audit.ts';
import { forActor, newId, type App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';
import { actorOf } from './sessions.ts';

/**
 * Mails a person that their account was changed, to the address from before the change. Nobody can switch these mails
 * off.
 */
export async function mailAccountChange(
  app: App,
  trx: Trx,
  { id, email }: Pick<Person, 'id' | 'email'>,
  change: AccountChange,
  detail: string | null = null,
  mailKey?: string,
): Promise<void> {
  const { kind, name, ip } = whoActs(app);
  const at = app.clock();
  await enqueueMails(app, trx, [id], {
    mailKey: mailKey ?? `account ${newId(app, at)}`,
    content: { kind: 'account', address: email, change, by: kind === 'person' ? name : null, ip, at, detail },
  });
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * Mails a person, at most once a day, that wrong codes used up their account's limit: all of them came with the right
 * password.
 */
export async function mailCodesUsedUp(app: App, person: Person, ip: string): Promise<void> {
  const own = forActor(app, actorOf(person, ip), app.requestId);
  const mailKey = `codes ${Math.floor(app.clock() / DAY_MS)}`;
  await app.db.transaction().execute((trx) => mailAccountChange(own, trx, person, 'codes_used_up', null, mailKey));
}
