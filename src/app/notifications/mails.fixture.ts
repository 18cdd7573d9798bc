import { sql } from 'kysely';
import { expect, vi } from 'vitest';
import { WAIT } from '../../../test/deadline.ts';
import { testApp, type TestApp } from '../../../test/harness.ts';
import { noteProblems, type Noted } from '../../../test/problems.ts';
import type { DocumentRenderer } from '../../documents/renderer.ts';
import type { Role } from '../../domain/role.ts';
import { createMailSender, type MailSender } from '../../mail/send.ts';
import { localSmtp, type LocalSmtp } from '../../mail/smtp-server.fixture.ts';
import { insertPerson, setMembership } from '../../store/people/people.ts';
import { findMailProgress, newestTransition } from '../../store/payments/completed-payments.ts';
import { newId } from '../context.ts';
import { followPayments } from './follow-payments.ts';
import { createMailer, type Mailer } from './send-mails.ts';

export const SITE = 'https://pay.shop.example';
const FROM = { name: 'Cointill', address: 'payments@shop.example' };

/** The application with a mail server, and people who get mails. */
export interface MailApp {
  readonly app: TestApp;
  readonly smtp: LocalSmtp;
  readonly mailer: Mailer;
  readonly noted: readonly Noted[];
  /** Another process's; `sender` in place of its way to the server. */
  readonly newMailer: (sender?: MailSender, renderer?: DocumentRenderer) => Mailer;
  readonly sender: MailSender;
  /** Somebody with an account; a role in all projects unless one is named. */
  readonly join: (email: string, role: Role, projectId?: string | null) => Promise<string>;
  /** All mails, as the table has them, the oldest first. */
  readonly rows: () => Promise<readonly MailRow[]>;
}

export interface MailRow {
  readonly kind: string;
  readonly content: object;
  readonly outcome: string | null;
  readonly attempts: number;
  readonly problem: string | null;
}

export async function mailApp(): Promise<MailApp> {
  const [made, smtp] = await Promise.all([testApp(), localSmtp()]);
  const app = { ...made, sendsMail: true };
  const problems = noteProblems();
  const sender = createMailSender({ server: smtp.server, from: FROM, answerMs: 5_000 });
  const newMailer = (other: MailSender = sender, renderer: DocumentRenderer = app.renderer): Mailer =>
    createMailer(app, { sender: other, from: FROM.address, siteUrl: SITE, renderer, problems });
  return {
    app,
    smtp,
    sender,
    noted: problems.noted,
    newMailer,
    mailer: newMailer(),
    join: (email, role, projectId = null) =>
      app.db.transaction().execute(async (trx) => {
        const now = app.clock();
        const id = newId(app, now);
        await insertPerson(trx, { id, email, createdAt: now });
        await sql`update people set joined_at = created_at, password_hash = 'x' where id = ${id}`.execute(trx);
        await setMembership(trx, { id: newId(app, now), personId: id, projectId, role, now });
        return id;
      }),
    rows: async () => {
      const { rows } = await sql<MailRow>`
        select kind, content, outcome, attempts, problem from mails order by id`.execute(app.db);
      return rows;
    },
  };
}

/**
 * Makes the mails of everything that is saved. Transactions of other tests' databases on the same server are waited
 * for, as those of this one are.
 */
export async function followAll({ app }: Pick<MailApp, 'app'>): Promise<void> {
  app.clock.advance(10_000);
  await vi.waitFor(async () => {
    while (await followPayments(app));
    const [progress, newest] = await Promise.all([findMailProgress(app.db), newestTransition(app.db)]);
    expect(progress?.takenIn).toBe(newest);
  }, WAIT);
}
