import type { SavedMail } from '../domain/mail-content.ts';
import { mayDo, roleIn, type ProjectAction } from '../domain/role.ts';
import type { Trx } from '../store/database.ts';
import { insertMails, mailReaders, type MailReader } from '../store/people/mails.ts';
import { newId, type App } from './context.ts';

/** A mail that no server has accepted for this long is given up. */
export const PATIENCE_MS = 3 * 24 * 60 * 60_000;

/** A mail that each of several people gets at most once. */
export interface KeyedMail {
  /** Nobody gets two mails with the same key. */
  readonly mailKey: string;
  readonly content: SavedMail;
  /** How long the mail is worth sending; 3 days by default. */
  readonly patienceMs?: number;
}

/** Saves mails to people in the transaction of the change that they report. Does nothing if no mails are sent. */
export async function enqueueMails(
  app: App,
  trx: Trx,
  personIds: readonly string[],
  { mailKey, content, patienceMs = PATIENCE_MS }: KeyedMail,
): Promise<void> {
  if (app.sendsMail !== true) return;
  const now = app.clock();
  const giveUpAt = now + patienceMs;
  await insertMails(
    trx,
    personIds.map((personId) => ({ id: newId(app, now), personId, mailKey, content, giveUpAt })),
    now,
  );
}

/** Saves mails to the owners of a project who want them. */
export async function enqueueForOwners(
  app: App,
  trx: Trx,
  projectId: string,
  mail: KeyedMail & { readonly isWanted: (reader: MailReader) => boolean },
): Promise<void> {
  if (app.sendsMail !== true) return;
  const owners = (await mailReaders(trx)).filter(
    (reader) => roleIn(reader.memberships, projectId) === 'owner' && mail.isWanted(reader),
  );
  await enqueueMails(
    app,
    trx,
    owners.map(({ id }) => id),
    mail,
  );
}

/** The people who may do an action in a project. */
export function readersWho(
  readers: readonly MailReader[],
  projectId: string,
  action: ProjectAction,
): readonly MailReader[] {
  return readers.filter(({ memberships }) => mayDo(roleIn(memberships, projectId), action));
}
