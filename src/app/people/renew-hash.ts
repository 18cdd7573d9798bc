import { findPerson, lockPerson, updatePerson, type Person } from '../../store/people/people.ts';
import type { PeopleParts } from './parts.ts';
import { HashesBusyError } from './password-hash.ts';

/**
 * Hashes the right password again if its hash is outdated, unless the stored hash has changed meanwhile. Returns the
 * stored hash of this password.
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
  return saved === null || saved !== passwordHash ? former : saved;
}

/**
 * The stored hash of the right password if another sign-in has renewed it since it was `former`; null if it was changed
 * or reset.
 */
export async function renewedMeanwhile(
  { app, hasher }: PeopleParts,
  { id }: Person,
  password: string,
  former: string | null,
): Promise<string | null> {
  const stored = (await findPerson(app.db, id))?.passwordHash ?? null;
  if (stored === null || stored === former) return null;
  return (await hasher.verify(password, stored, { kind: 'known', id: `renewed ${id}` })) ? stored : null;
}
