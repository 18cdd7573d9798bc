import { sql } from 'kysely';
import type { ProjectChoices } from '../../domain/notification.ts';
import { USUAL_PROJECT_CHOICES } from '../../domain/notification.ts';
import type { Database, Trx } from '../database.ts';
import { salt } from '../own-schema.ts';
import { findRow, findRows, insertRows, type Stored } from '../rows.ts';

/** A person's choices for one project, and the progress of their mails. */
export type SavedProjectChoices = Stored<'project_notifications'>;

/** The choices of everybody, or of one person, for all projects. */
export async function findProjectChoices(
  executor: Database | Trx,
  of: { readonly personId?: string } = {},
): Promise<readonly SavedProjectChoices[]> {
  return findRows(executor, 'project_notifications', of, { order: ['projectId', 'personId'] });
}

/** A person's choices for one project. */
export async function choicesFor(
  executor: Database | Trx,
  personId: string,
  projectId: string,
): Promise<ProjectChoices> {
  return (await findRow(executor, 'project_notifications', { personId, projectId })) ?? USUAL_PROJECT_CHOICES;
}

/**
 * Locks a person's choices for a project until the transaction ends, so that the second of two simultaneous changes
 * sees the first. Null: nothing was chosen.
 */
export async function lockProjectChoices(
  trx: Trx,
  personId: string,
  projectId: string,
): Promise<SavedProjectChoices | null> {
  const key = `cointill choices ${personId} ${projectId}`;
  await sql`select pg_advisory_xact_lock(hashtextextended(${key}, 0) # ${salt})`.execute(trx);
  return findRow(trx, 'project_notifications', { personId, projectId });
}

export async function saveProjectChoices(trx: Trx, choices: SavedProjectChoices): Promise<void> {
  await insertRows(trx, 'project_notifications', [choices], {
    conflict: { by: ['personId', 'projectId'], set: choices },
  });
}
