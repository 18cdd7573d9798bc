import { lockPerson, updatePerson, type Person } from '../../store/people/people.ts';
import type { PeopleParts } from './parts.ts';
import { HashesBusyError } from './password-hash.ts';

/**
 * Hashes the right password again if its hash is outdated, unless the password was changed or reset meanwhile. Returns
 * the stored hash of this password.
 */
export async function renewHash(
  { app, hasher }: PeopleParts,
  { id, passwordHash: former }: Person,
  password: string,
): Promise<string | null> {
  if (former === null || !hasher.isOutdated(former)) return former;
  // The hash does not use the person's own place: a simultaneous sign-in of theirs elsewhere would be refused.
  const passwordHash = await hasher.hash(password, { kind: 'known', id: `renewed ${id}` }).catch((error: unknown) => {
    // The next sign-in renews the hash.
    if (error instanceof HashesBusyError) return null;
    throw error;
  });
  if (passwordHash === null) return former;
  return app.db.transaction().execute(async (trx) => {
    if ((await lockPerson(trx, id))?.passwordHash !== former) return former;
    await updatePerson(trx, id, { passwordHash });
    return passwordHash;
  });
}
