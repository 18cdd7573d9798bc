import { ROLES, type Role } from '../../domain/role.ts';
import type { Database, Trx } from '../../store/database.ts';
import { notifySessions } from '../../store/notifications.ts';
import { rolesWithFactor, setRolesWithFactor } from '../../store/people/factors.ts';
import { listMembers, lockPeople, type Member } from '../../store/people/people.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';

interface Required {
  readonly kind: 'done';
  /** The roles whose holders must have a second factor, in one project or in all. */
  readonly roles: readonly Role[];
  /** The people who can sign in, must have a second factor, and have none. */
  readonly lacking: readonly Member[];
}

export async function requiredFactors(app: App): Promise<Required> {
  const roles = await rolesWithFactor(app.db);
  return { kind: 'done', roles, lacking: await lackingFactor(app.db, roles) };
}

/**
 * Sets the roles whose holders must have a second factor; none: it is everybody's own choice. People without one are
 * asked for it at once, in running sessions too. `seen` are the roles that the change began from: if they have changed
 * since, the change is refused.
 */
export function requireFactors(
  app: App,
  wanted: readonly Role[],
  seen?: readonly Role[],
): Promise<Required | Rejected> {
  const roles = inOrder(wanted);
  return app.db.transaction().execute(async (trx) => {
    await lockPeople(trx);
    const before = await rolesWithFactor(trx);
    if (seen !== undefined && String(inOrder(seen)) !== String(before)) return rejected('list_changed');
    const lacking = await lackingFactor(trx, roles);
    if (String(before) === String(roles)) return { kind: 'done', roles, lacking };
    await setRolesWithFactor(trx, roles);
    await recordAudit(app, trx, {
      action: 'person.require_factors',
      projectId: null,
      subject: { kind: 'person', id: null },
      before: { roles: before },
      after: { roles },
    });
    for (const { id } of lacking) await notifySessions(trx, id);
    return { kind: 'done', roles, lacking };
  });
}

const inOrder = (roles: readonly Role[]): readonly Role[] => ROLES.filter((one) => roles.includes(one));

async function lackingFactor(executor: Database | Trx, roles: readonly Role[]): Promise<readonly Member[]> {
  return (await listMembers(executor)).filter(
    ({ deactivatedAt, passwordHash, sealedTotp, hasPasskeys, memberships }) =>
      deactivatedAt === null &&
      passwordHash !== null &&
      sealedTotp === null &&
      !hasPasskeys &&
      memberships.some(({ role }) => roles.includes(role)),
  );
}
