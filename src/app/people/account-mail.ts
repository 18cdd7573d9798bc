import type { AccountChange } from '../../domain/mail-content.ts';
import type { Trx } from '../../store/database.ts';
import type { Person } from '../../store/people.ts';
import { whoActs } from '../audit.ts';
import { newId, type App } from '../context.ts';
import { enqueueMails } from '../enqueue-mail.ts';

/**
 * Tells somebody by mail that their account was changed, at the address that it has before the change. Nobody can
 * switch these mails off.
 */
export async function mailAccountChange(
  app: App,
  trx: Trx,
  { id, email }: Pick<Person, 'id' | 'email'>,
  change: AccountChange,
  detail: string | null = null,
): Promise<void> {
  const { kind, name, ip } = whoActs(app);
  const at = app.clock();
  await enqueueMails(app, trx, [id], {
    occasion: `account ${newId(app, at)}`,
    content: { kind: 'account', address: email, change, by: kind === 'person' ? name : null, ip, at, detail },
  });
}
