import type { Fiat } from '../../domain/money.ts';
import { zoneOf } from '../../domain/notification.ts';
import { mayDo, roleIn } from '../../domain/role.ts';
import type { Database, Trx } from '../../store/database.ts';
import { mailReaders } from '../../store/people/mails.ts';
import { findProjectChoices, type SavedProjectChoices } from '../../store/people/project-choices.ts';
import { listProjects } from '../../store/projects/projects.ts';

/** A person who chose mails about the payments of a project, and may read them. */
export interface ProjectReader {
  readonly personId: string;
  /** The IANA name of the person's zone. */
  readonly zone: string;
  /** With the currency that it counts in. */
  readonly project: { readonly id: string; readonly name: string; readonly currency: Fiat };
  readonly choices: SavedProjectChoices;
}

/** Everybody who wants mails about a project's payments now. */
export async function projectReaders(executor: Database | Trx): Promise<readonly ProjectReader[]> {
  const all = (await findProjectChoices(executor)).filter(
    ({ payments, refunds, monthly }) => payments !== 'off' || refunds || monthly,
  );
  if (all.length === 0) return [];
  const [readers, projects] = await Promise.all([mailReaders(executor), listProjects(executor)]);
  const people = new Map(readers.map((reader) => [reader.id, reader]));
  const active = new Map(projects.filter((project) => project.active).map((project) => [project.id, project]));
  return all.flatMap((choices): readonly ProjectReader[] => {
    const person = people.get(choices.personId);
    const project = active.get(choices.projectId);
    if (person === undefined || project === undefined) return [];
    if (!mayDo(roleIn(person.memberships, project.id), 'read_payments')) return [];
    const { id, name, defaultCurrency } = project;
    return [
      {
        personId: person.id,
        zone: zoneOf(person.choices),
        project: { id, name, currency: defaultCurrency ?? 'USD' },
        choices,
      },
    ];
  });
}
