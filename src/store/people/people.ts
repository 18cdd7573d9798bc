import { sql } from 'kysely';
import type { Membership, Role } from '../../domain/role.ts';
import type { Database, Trx } from '../database.ts';
import { notifySessions } from '../notifications.ts';
import { salt } from '../own-schema.ts';
import {
  deleteRows,
  fields,
  findRow,
  findRows,
  hasRow,
  insertRows,
  NOT_NULL,
  updateRows,
  type Stored,
} from '../rows.ts';

/** A person who may use the dashboard, or was invited to. */
export type Person = Omit<Stored<'people'>, 'totpLastStep'>;

/** A person with their roles. */
export interface Member extends Person {
  readonly memberships: readonly Membership[];
  readonly hasPasskeys: boolean;
}

const PERSON = { without: ['totp_last_step'] } as const;

/** Whether anybody has created an account: from then on there is no set-up. */
export async function hasPeople(executor: Database | Trx): Promise<boolean> {
  return hasRow(executor, 'people', { joinedAt: NOT_NULL });
}

/** Locks out other set-ups and invitations until the transaction ends: of two at once, neither would see the other. */
export async function lockPeople(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('cointill people') # ${salt})`.execute(trx);
}

export async function insertPerson(
  trx: Trx,
  person: { readonly id: string; readonly email: string; readonly createdAt: number },
): Promise<void> {
  await trx
    .insertInto('people')
    .values({ id: person.id, email: person.email, created_at: new Date(person.createdAt) })
    .execute();
}

/** The person with an e-mail address, ignoring case. */
export async function findPersonByEmail(executor: Database | Trx, email: string): Promise<Person | null> {
  const row = await executor
    .selectFrom('people')
    .select(fields('people', PERSON))
    .where(sql<string>`lower(email)`, '=', email.toLowerCase())
    .executeTakeFirst();
  return row ?? null;
}

export async function findPerson(executor: Database | Trx, id: string): Promise<Person | null> {
  return findRow(executor, 'people', { id }, PERSON);
}

/** Locks the person until the transaction ends: the data that a factor is checked against must not change meanwhile. */
export async function lockPerson(trx: Trx, id: string): Promise<Person | null> {
  return findRow(trx, 'people', { id }, { ...PERSON, isLocked: true });
}

/** All people, in the order in which they were added. */
export async function listMembers(executor: Database | Trx): Promise<readonly Member[]> {
  const [people, memberships, passkeys] = await Promise.all([
    findRows(executor, 'people', {}, { ...PERSON, order: ['createdAt', 'id'] }),
    findRows(executor, 'memberships', {}, { order: ['id'] }),
    executor.selectFrom('passkeys').select('person_id').distinct().execute(),
  ]);
  const withPasskeys = new Set(passkeys.map((row) => row.person_id));
  const rolesOf = Map.groupBy(memberships, ({ personId }) => personId);
  return people.map((row) => ({
    ...row,
    memberships: (rolesOf.get(row.id) ?? []).map(({ projectId, role }) => ({ projectId, role })),
    hasPasskeys: withPasskeys.has(row.id),
  }));
}

/** The names that people have, by their ids. */
export async function namesOfPeople(executor: Database | Trx): Promise<ReadonlyMap<string, string>> {
  const people = await executor.selectFrom('people').select(['id', 'name']).where('name', 'is not', null).execute();
  return new Map(people.map(({ id, name }) => [id, name ?? '']));
}

/** The people who sign in with one-time codes. */
export async function listTotpHolders(executor: Database | Trx): Promise<readonly Person[]> {
  return findRows(executor, 'people', { sealedTotp: NOT_NULL, deactivatedAt: null }, { ...PERSON, order: ['email'] });
}

export async function membershipsOf(executor: Database | Trx, personId: string): Promise<readonly Membership[]> {
  const reading = { without: ['id', 'person_id', 'created_at'], order: ['id'] } as const;
  return findRows(executor, 'memberships', { personId }, reading);
}

/** Sets the role in a project, or in all projects with null; a null role removes it. */
export async function setMembership(
  trx: Trx,
  row: {
    readonly id: string;
    readonly personId: string;
    readonly projectId: string | null;
    readonly role: Role | null;
    readonly now: number;
  },
): Promise<void> {
  const { id, personId, projectId, role, now } = row;
  await deleteRows(trx, 'memberships', { personId, projectId });
  await notifySessions(trx, personId);
  if (role !== null) await insertRows(trx, 'memberships', [{ id, personId, projectId, role, createdAt: now }]);
}

export async function deleteMemberships(trx: Trx, personId: string): Promise<void> {
  await deleteRows(trx, 'memberships', { personId });
  await notifySessions(trx, personId);
}

/** The fields of a person that can change; absent fields stay as they are. */
export type PersonChanges = Partial<Omit<Person, 'id' | 'createdAt' | 'lastSeenAt'>>;

export async function updatePerson(trx: Trx, id: string, changes: PersonChanges): Promise<void> {
  // A new secret has time steps of its own.
  const steps = changes.sealedTotp === undefined ? {} : { totpLastStep: null };
  await updateRows(trx, 'people', { id }, { id, ...changes, ...steps });
}

/** Removes everybody's requests for an address, ignoring case. */
export async function dropPendingEmail(trx: Trx, email: string): Promise<void> {
  await trx
    .updateTable('people')
    .set({ pending_email: null })
    .where(sql<string>`lower(pending_email)`, '=', email.toLowerCase())
    .execute();
}

/** Uses up a TOTP step; false if that step or a later one was used before. */
export async function takeTotpStep(executor: Database | Trx, id: string, step: bigint): Promise<boolean> {
  const row = await executor
    .updateTable('people')
    .set({ totp_last_step: step })
    .where('id', '=', id)
    .where((where) => where.or([where('totp_last_step', 'is', null), where('totp_last_step', '<', step)]))
    .returning('id')
    .executeTakeFirst();
  return row !== undefined;
}

/** Whether somebody else could still run the service: an active owner of all projects, with a password. */
export async function hasOtherOwner(trx: Trx, personId: string): Promise<boolean> {
  const row = await trx
    .selectFrom('memberships as m')
    .innerJoin('people as p', 'p.id', 'm.person_id')
    .select('p.id')
    .where('m.project_id', 'is', null)
    .where('m.role', '=', 'owner')
    .where('p.id', '!=', personId)
    .where('p.password_hash', 'is not', null)
    .where('p.deactivated_at', 'is', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
