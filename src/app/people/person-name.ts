import { lockPerson, updatePerson, type Person } from '../../store/people/people.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { checkName } from '../projects/name.ts';
import type { Rejected } from '../rejected.ts';
import { ENDED } from './account.ts';

/** The name under which colleagues know a person, beside the e-mail address by which they are told apart. */

/** Reads a typed name, to which the rules for names of projects apply. An empty one is none. */
export function personName(
  typed: string,
): { readonly kind: 'done'; readonly changes: { readonly name: string | null } } | Rejected {
  const name = typed.trim();
  if (name === '') return { kind: 'done', changes: { name: null } };
  return checkName(name) ?? { kind: 'done', changes: { name } };
}

/** Changes or removes the name of a person, who does so themselves. */
export async function changeName(
  app: App,
  { id }: Person,
  typed: string,
): Promise<{ readonly kind: 'done'; readonly person: Person } | Rejected> {
  const read = personName(typed);
  if (read.kind === 'rejected') return read;
  const { name } = read.changes;
  return app.db.transaction().execute(async (trx) => {
    const before = await lockPerson(trx, id);
    if (before === null) return ENDED;
    if (before.name !== name) {
      await updatePerson(trx, id, { name });
      await recordAudit(app, trx, {
        action: 'person.name',
        projectId: null,
        subject: { kind: 'person', id },
        before: { name: before.name },
        after: { email: before.email, name },
      });
    }
    return { kind: 'done', person: { ...before, name } };
  });
}
