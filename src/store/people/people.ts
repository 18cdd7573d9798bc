import { sql, type Selectable } from 'kysely';
import type { Membership, Role } from '../../domain/role.ts';
import type { Database, Trx } from '../database.ts';
import { notifySessions } from '../notifications.ts';
import { columnsOf, type NewRow, type Tables } from '../tables.ts';

/** Somebody who may use the dashboard, or was invited to. Times in epoch milliseconds. */
export interface Person {
  readonly id: string;
  readonly email: string;
  /** The new address that is not confirmed yet. */
  readonly pendingEmail: string | null;
  /** PHC string; null until the invitation was accepted. */
  readonly passwordHash: string | null;
  readonly sealedTotp: Buffer | null;
  /** Not confirmed by a code yet. */
  readonly sealedPendingTotp: Buffer | null;
  readonly deactivatedAt: number | null;
  readonly createdAt: number;
  /** When the invitation was accepted. */
  readonly joinedAt: number | null;
  readonly lastSeenAt: number | null;
}

/** With what the person is in which project. */
export interface Member extends Person {
  readonly memberships: readonly Membership[];
  readonly hasPasskeys: boolean;
}

export function personFromRow(row: Selectable<Tables['people']>): Person {
  return {
    id: row.id,
    email: row.email,
    pendingEmail: row.pending_email,
    passwordHash: row.password_hash,
    sealedTotp: row.totp_secret,
    sealedPendingTotp: row.totp_pending,
    deactivatedAt: row.deactivated_at,
    createdAt: row.created_at,
    joinedAt: row.joined_at,
    lastSeenAt: row.last_seen_at,
  };
}

/** Whether anybody has made an account: from then on there is no set-up. */
export async function hasPeople(executor: Database | Trx): Promise<boolean> {
  const row = await executor
    .selectFrom('people')
    .select('id')
    .where('joined_at', 'is not', null)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}

/** Two set-ups or invitations at once would each see that the other is not there. Held until the transaction ends. */
export async function lockPeople(trx: Trx): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtext('cointill people'))`.execute(trx);
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

/** By e-mail, whichever case it is typed in. */
export async function findPersonByEmail(executor: Database | Trx, email: string): Promise<Person | null> {
  const row = await executor
    .selectFrom('people')
    .select(columnsOf('people'))
    .where(sql<string>`lower(email)`, '=', email.toLowerCase())
    .executeTakeFirst();
  return row === undefined ? null : personFromRow(row);
}

export async function findPerson(executor: Database | Trx, id: string): Promise<Person | null> {
  const row = await executor.selectFrom('people').select(columnsOf('people')).where('id', '=', id).executeTakeFirst();
  return row === undefined ? null : personFromRow(row);
}

/** Locks the person until the transaction ends: what a factor is checked against must not change meanwhile. */
export async function lockPerson(trx: Trx, id: string): Promise<Person | null> {
  const row = await trx
    .selectFrom('people')
    .select(columnsOf('people'))
    .where('id', '=', id)
    .forUpdate()
    .executeTakeFirst();
  return row === undefined ? null : personFromRow(row);
}

/** Everybody, in the order in which they came. */
export async function listMembers(executor: Database | Trx): Promise<readonly Member[]> {
  const [people, memberships, passkeys] = await Promise.all([
    executor.selectFrom('people').select(columnsOf('people')).orderBy('created_at').orderBy('id').execute(),
    executor.selectFrom('memberships').select(['person_id', 'project_id', 'role']).orderBy('id').execute(),
    executor.selectFrom('passkeys').select('person_id').distinct().execute(),
  ]);
  const withPasskeys = new Set(passkeys.map((row) => row.person_id));
  return people.map((row) => ({
    ...personFromRow(row),
    memberships: memberships
      .filter((one) => one.person_id === row.id)
      .map((one) => ({ projectId: one.project_id, role: one.role })),
    hasPasskeys: withPasskeys.has(row.id),
  }));
}

/** Those who sign in with one-time codes. */
export async function listTotpHolders(executor: Database | Trx): Promise<readonly Person[]> {
  const rows = await executor
    .selectFrom('people')
    .select(columnsOf('people'))
    .where('totp_secret', 'is not', null)
    .where('deactivated_at', 'is', null)
    .orderBy('email')
    .execute();
  return rows.map(personFromRow);
}

export async function membershipsOf(executor: Database | Trx, personId: string): Promise<readonly Membership[]> {
  const rows = await executor
    .selectFrom('memberships')
    .select(['project_id', 'role'])
    .where('person_id', '=', personId)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({ projectId: row.project_id, role: row.role }));
}

/** Sets the role in a project, or in all with null; a null role takes it away. */
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
  await trx
    .deleteFrom('memberships')
    .where('person_id', '=', personId)
    .where('project_id', projectId === null ? 'is' : '=', projectId)
    .execute();
  await notifySessions(trx, personId);
  if (role === null) return;
  await trx
    .insertInto('memberships')
    .values({
      id,
      person_id: personId,
      project_id: projectId,
      role,
      created_at: new Date(now),
    } satisfies NewRow<'memberships'>)
    .execute();
}

export async function deleteMemberships(trx: Trx, personId: string): Promise<void> {
  await trx.deleteFrom('memberships').where('person_id', '=', personId).execute();
  await notifySessions(trx, personId);
}

/** What can be changed of a person; what is not given stays. */
export interface PersonChanges {
  readonly email?: string;
  readonly pendingEmail?: string | null;
  readonly passwordHash?: string | null;
  readonly joinedAt?: number;
  readonly sealedTotp?: Buffer | null;
  readonly sealedPendingTotp?: Buffer | null;
  readonly deactivatedAt?: number | null;
}

export async function updatePerson(trx: Trx, id: string, changes: PersonChanges): Promise<void> {
  const { email, pendingEmail, passwordHash, joinedAt, sealedTotp, sealedPendingTotp, deactivatedAt } = changes;
  await trx
    .updateTable('people')
    .set((row) => ({
      id: row.ref('id'),
      ...(email === undefined ? {} : { email }),
      ...(pendingEmail === undefined ? {} : { pending_email: pendingEmail }),
      ...(passwordHash === undefined ? {} : { password_hash: passwordHash }),
      ...(joinedAt === undefined ? {} : { joined_at: new Date(joinedAt) }),
      // A new secret begins its own steps.
      ...(sealedTotp === undefined ? {} : { totp_secret: sealedTotp, totp_last_step: null }),
      ...(sealedPendingTotp === undefined ? {} : { totp_pending: sealedPendingTotp }),
      ...(deactivatedAt === undefined
        ? {}
        : { deactivated_at: deactivatedAt === null ? null : new Date(deactivatedAt) }),
    }))
    .where('id', '=', id)
    .execute();
}

/** Ends everybody's requests for an address, in whichever case it was typed. */
export async function dropPendingEmail(trx: Trx, email: string): Promise<void> {
  await trx
    .updateTable('people')
    .set({ pending_email: null })
    .where(sql<string>`lower(pending_email)`, '=', email.toLowerCase())
    .execute();
}

/** Takes a TOTP step once; false when it, or a later one, was taken before. */
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
