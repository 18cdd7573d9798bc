import { timestamp, type Database } from '../database.ts';
import type { Logo } from './projects.ts';
import { toRow } from '../rows.ts';
import type { LogoType } from '../schema/projects.ts';

/** As long as somebody may look at a preview. */
const LIFETIME_MS = 60 * 60_000;

/** Keeps a logo that was not saved yet for an hour, for every process; forgets the older ones of all projects. */
export async function keepLogoDraft(db: Database, projectId: string, logo: Logo, now: number): Promise<void> {
  await db
    .deleteFrom('logo_drafts')
    .where('created_at', '<', timestamp(now - LIFETIME_MS))
    .execute();
  await db
    .insertInto('logo_drafts')
    .values(toRow('logo_drafts', { ...logo, projectId, createdAt: now }))
    .onConflict((conflict) => conflict.columns(['project_id', 'hash']).doUpdateSet({ created_at: new Date(now) }))
    .execute();
}

/** A project's logo that was not saved yet; null if there is none with this hash. */
export async function findLogoDraft(
  db: Database,
  projectId: string,
  hash: string,
): Promise<{ readonly type: LogoType; readonly bytes: Buffer } | null> {
  const row = await db
    .selectFrom('logo_drafts')
    .select(['type', 'bytes'])
    .where('project_id', '=', projectId)
    .where('hash', '=', hash)
    .executeTakeFirst();
  return row ?? null;
}
