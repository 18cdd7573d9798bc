import { areUnnumbered, numberEvents } from '../../store/webhooks/event-positions.ts';
import type { App } from '../context.ts';

/**
 * Gives events the next positions of their logs, in one transaction. Returns whether there may be more to do at once.
 * Creations wake nobody for that, so the worker asks; one process at a time gives positions.
 */
export async function numberDue({ db }: Pick<App, 'db'>): Promise<boolean> {
  if (!(await areUnnumbered(db))) return false;
  return db.transaction().execute(numberEvents);
}
