import { sql, type Selectable } from 'kysely';
import { USUAL_CHOICES, type MailLanguage, type NotificationChoices } from '../../domain/notification.ts';
import type { Membership } from '../../domain/role.ts';
import type { Database, Trx } from '../database.ts';
import { columnsOf, type Tables } from '../tables.ts';

/** What somebody chose, with how far their mails are. */
export interface SavedChoices extends NotificationChoices {
  /** The newest occurrence that was mailed to the person, or was there before they asked for it. */
  readonly attentionSeen: bigint;
  readonly attentionMailedAt: number | null;
  /** Days in the person's zone. */
  readonly dailyMade: string | null;
  readonly weeklyMade: string | null;
}

/** Somebody who may get mails. */
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

/** What a person chose; null: nothing yet. */
export async function findChoices(executor: Database | Trx, personId: string): Promise<SavedChoices | null> {
  const row = await executor
    .selectFrom('notification_choices')
    .select(columnsOf('notification_choices'))
    .where('person_id', '=', personId)
    .executeTakeFirst();
  return row === undefined ? null : choicesFromRow(row);
}

/** Of two changes at once the second sees what the first did. Held until the transaction ends. */
export async function lockChoices(trx: Trx, personId: string): Promise<SavedChoices> {
  await sql`select pg_advisory_xact_lock(hashtextextended(${`cointill choices ${personId}`}, 0))`.execute(trx);
  return (await findChoices(trx, personId)) ?? NOTHING_SAVED;
}

export async function saveChoices(trx: Trx, personId: string, choices: SavedChoices): Promise<void> {
  const row = {
    wallet_changed: choices.walletChanged,
    endpoints: choices.endpoints,
    attention: choices.attention,
    weekly_on: choices.weeklyOn,
    zone: choices.zone,
    language: choices.language,
    attention_seen: choices.attentionSeen,
    attention_mailed_at: choices.attentionMailedAt === null ? null : new Date(choices.attentionMailedAt),
    daily_made: choices.dailyMade,
    weekly_made: choices.weeklyMade,
  };
  await trx
    .insertInto('notification_choices')
    .values({ person_id: personId, ...row })
    .onConflict((conflict) => conflict.column('person_id').doUpdateSet(row))
    .execute();
}

/** Keeps the language of somebody's browser, unless they have one. */
export async function rememberLanguage(trx: Trx, personId: string, language: MailLanguage | null): Promise<void> {
  if (language === null) return;
  const choices = await lockChoices(trx, personId);
  if (choices.language === null) await saveChoices(trx, personId, { ...choices, language });
}

/** Everybody with an account who is not deactivated, with roles and choices. */
export async function mailReaders(executor: Database | Trx): Promise<readonly MailReader[]> {
  const [people, memberships, saved] = await Promise.all([
    executor
      .selectFrom('people')
      .select(['id', 'email'])
      .where('joined_at', 'is not', null)
      .where('deactivated_at', 'is', null)
      .orderBy('id')
      .execute(),
    executor.selectFrom('memberships').select(['person_id', 'project_id', 'role']).orderBy('id').execute(),
    executor.selectFrom('notification_choices').select(columnsOf('notification_choices')).execute(),
  ]);
  const rolesOf = Map.groupBy(memberships, (row) => row.person_id);
  const choicesOf = new Map(saved.map((row) => [row.person_id, choicesFromRow(row)]));
  return people.map(({ id, email }) => ({
    id,
    email,
    memberships: (rolesOf.get(id) ?? []).map((row) => ({ projectId: row.project_id, role: row.role })),
    choices: choicesOf.get(id) ?? NOTHING_SAVED,
  }));
}

function choicesFromRow(row: Selectable<Tables['notification_choices']>): SavedChoices {
  return {
    walletChanged: row.wallet_changed,
    endpoints: row.endpoints,
    attention: row.attention,
    weeklyOn: row.weekly_on,
    zone: row.zone,
    language: row.language,
    attentionSeen: row.attention_seen,
    attentionMailedAt: row.attention_mailed_at,
    dailyMade: row.daily_made,
    weeklyMade: row.weekly_made,
  };
}
