import { sql } from 'kysely';
import { USUAL_CHOICES, type MailLanguage } from '../../domain/notification.ts';
import type { Membership } from '../../domain/role.ts';
import type { Database, Trx } from '../database.ts';
import { fields, toRow, type Stored } from '../rows.ts';

/** The choices of a person, and the progress of their mails. */
export type SavedChoices = Omit<Stored<'notification_choices'>, 'personId'>;

/** A person who may get mails. */
export interface MailReader {
  readonly id: string;
  readonly email: string;
  readonly memberships: readonly Membership[];
  readonly choices: SavedChoices;
}

export const NOTHING_SAVED: SavedChoices = {
  ...USUAL_CHOICES,
  attentionSeen: 0n,
  attentionMailedAt: null,
  dailyMade: null,
  weeklyMade: null,
};

/** The choices of a person; null if they made none yet. */
export async function findChoices(executor: Database | Trx, personId: string): Promise<SavedChoices | null> {
  const row = await executor
    .selectFrom('notification_choices')
    .select(fields('notification_choices', { without: ['person_id'] }))
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row ?? null;
}

/**
 * Locks a person's choices until the transaction ends, so that the second of two simultaneous changes sees the first.
 */
export async function lockChoices(trx: Trx, personId: string): Promise<SavedChoices> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cointill choices ${personId}`}, 0))`.execute(trx);
  return (await findChoices(trx, personId)) ?? NOTHING_SAVED;
}

export async function saveChoices(trx: Trx, personId: string, choices: SavedChoices): Promise<void> {
  const row = toRow('notification_choices', { ...choices, personId });
  await trx
    .insertInto('notification_choices')
    .values(row)
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
    .execute();
}

/** Keeps the language of a person's browser, unless they have a language already. */
export async function rememberLanguage(trx: Trx, personId: string, language: MailLanguage | null): Promise<void> {
  if (language === null) return;
  const choices = await lockChoices(trx, personId);
  if (choices.language === null) await saveChoices(trx, personId, { ...choices, language });
}

/** Everybody with an account that is not deactivated, with roles and choices. */
export async function mailReaders(executor: Database | Trx): Promise<readonly MailReader[]> {
  const [people, memberships, saved] = await Promise.all([
    executor
      .selectFrom('people')
      .select(['id', 'email'])
      .where('joined_at', 'is not', null)
      .where('deactivated_at', 'is', null)
      .orderBy('id')
      .execute(),
    executor
      .selectFrom('memberships')
      .select(['person_id as personId', 'project_id as projectId', 'role'])
      .orderBy('id')
      .execute(),
    executor.selectFrom('notification_choices').select(fields('notification_choices')).execute(),
  ]);
  const rolesOf = Map.groupBy(memberships, ({ personId }) => personId);
  const choicesOf = new Map(saved.map(({ personId, ...choices }) => [personId, choices]));
  return people.map(({ id, email }) => ({
    id,
    email,
    memberships: (rolesOf.get(id) ?? []).map(({ projectId, role }) => ({ projectId, role })),
    choices: choicesOf.get(id) ?? NOTHING_SAVED,
  }));
}
