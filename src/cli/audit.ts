import type { Command } from 'commander';
import { parseUuid } from '../domain/id.ts';
import { listAuditEntries, WHOLE_LOG, type AuditEntry } from '../store/people/audit.ts';
import { isoTime } from '../wire/time.ts';
import { projectIdOf, wholeNumber } from './arguments.ts';
import { UsageFailure } from './failure.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, table, type OutputOptions } from './output.ts';

interface ListOptions extends OutputOptions {
  readonly project?: string;
  readonly limit: number;
  readonly before?: string;
}

const MAX_LIMIT = 1_000;

/** `cointill audit list`. */
export function addAuditCommands(audit: Command): void {
  printsRecord(audit.command('list').description('list changes, newest first'))
    .option('--project <id>', 'only changes of this project', projectIdOf)
    .option('--limit <n>', `how many, 1 to ${MAX_LIMIT}`, wholeNumber(1, MAX_LIMIT), 50)
    .option('--before <id>', 'only entries before the one with this id, for the next page', entryIdOf)
    .action((options: ListOptions) => {
      const { project: projectId = null, before: after = null, limit } = options;
      return withCointill(async ({ app }) => {
        const entries = await listAuditEntries(app.db, { ...WHOLE_LOG, projectId }, { after, limit });
        print(options, entries.map(entryRecord), () => entryTable(entries));
      });
    });
}

function entryIdOf(text: string): string {
  const id = parseUuid(text);
  if (id !== null) return id;
  throw new UsageFailure('--before must be the id of an entry, as --json shows it.');
}

function entryRecord(entry: AuditEntry): object {
  return {
    id: entry.id,
    at: isoTime(entry.at),
    actor: entry.actor,
    action: entry.action,
    project_id: entry.projectId,
    subject: entry.subject,
    before: entry.before,
    after: entry.after,
    ip: entry.ip,
    request_id: entry.requestId,
  };
}

function entryTable(entries: readonly AuditEntry[]): readonly string[] {
  return table(
    ['AT', 'WHO', 'WHAT', 'OF', 'FROM'],
    entries.map(({ at, actor, action, subject, ip }) => [
      isoTime(at),
      actor.kind === 'person' ? actor.name : `${actor.kind} ${actor.name}`,
      action,
      subject.id === null ? subject.kind : `${subject.kind} ${subject.id}`,
      ip ?? '-',
    ]),
    'No changes yet.',
  );
}
