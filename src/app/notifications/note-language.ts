import type { Payment } from '../../domain/payment.ts';
import { projectsWithCustomerMails, savePaymentLanguage } from '../../store/projects/customer-mails.ts';
import type { App } from '../context.ts';

/** Notes the language in which a payment's page is seen, if its customer may be mailed. Nothing waits for it. */
export type NoteLanguage = (payment: Pick<Payment, 'id' | 'projectId' | 'customerEmail'>, language: string) => void;

/** How long a project that begins to mail its customers may be unknown. */
const KNOWN_MS = 30_000;
const MAX_NOTED = 10_000;

/** Notes each language of a payment once in this process. A failure costs the language alone. */
export function createLanguageNotes(app: Pick<App, 'db' | 'clock'>): NoteLanguage {
  const noted = new Map<string, string>();
  let known: Promise<ReadonlySet<string>> = Promise.resolve(new Set());
  let knownUntil = -Infinity;
  const read = async () => new Set((await projectsWithCustomerMails(app.db)).map((one) => one.projectId));
  const note = async ({ id, projectId }: Parameters<NoteLanguage>[0], language: string): Promise<void> => {
    const now = app.clock();
    if (now >= knownUntil) {
      knownUntil = now + KNOWN_MS;
      known = read();
      // The next page view reads them again.
      known.catch(() => (knownUntil = -Infinity));
    }
    if (!(await known).has(projectId)) return;
    if (noted.size >= MAX_NOTED) noted.clear();
    noted.set(id, language);
    await savePaymentLanguage(app.db, id, language);
  };
  return (payment, language) => {
    if (payment.customerEmail === null || noted.get(payment.id) === language) return;
    note(payment, language).catch(() => noted.delete(payment.id));
  };
}
