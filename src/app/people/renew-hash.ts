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
  const whom = { kind: 'known', id: `renewed ${id}` } as const;
  const passwordHash = await hasher.hash(password, whom).catch((error: unknown) => {
    // The next sign-in renews the hash.
    if (error instanceof HashesBusyError) return null;
    throw error;
  });
  const saved = await app.db.transaction().execute(async (trx) => {
    const now = (await lockPerson(trx, id))?.passwordHash ?? null;
    if (now !== former || passwordHash === null) return now;
    await updatePerson(trx, id, { passwordHash });
    return passwordHash;
  });
  // Null: the password was reset.
  if (saved === null || saved === former) return former;
  if (saved === passwordHash) return saved;
  // Another sign-in may have renewed it.
  return (await hasher.verify(password, saved, whom)) ? saved : former;
}
