import { actionOfAttention, type AttentionKind } from '../../domain/attention.ts';
import { ROLES, mayDo } from '../../domain/role.ts';
import {
  assignees,
  attentionMarks,
  saveAttentionMark,
  type Assignee,
  type AttentionKey,
} from '../../store/figures/attention.ts';
import type { Database, Trx } from '../../store/database.ts';
import { notifyAttention } from '../../store/notifications.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { rejected } from '../rejected.ts';
import { attentionItems, type AttentionScope, type AttentionSources } from './attention.ts';
import type { AnnotationOutcome } from './notes.ts';

/** A person's change of one item; absent fields stay as they are. */
export interface AttentionChange {
  /** The id of a person; null for nobody. */
  readonly assignedTo?: string | null | undefined;
  /** An empty text removes the note. */
  readonly note?: string | undefined;
  readonly isDone?: boolean | undefined;
  /** The version that the person saw; 0 if nothing was written yet. */
  readonly version: number;
}

/** The people to whom an item of a project can be assigned. */
export function projectAssignees(executor: Database | Trx, projectId: string): Promise<readonly Assignee[]> {
  const roles = ROLES.filter((role) => mayDo(role, 'write_notes'));
  return assignees(executor, projectId, roles);
}

/**
 * Assigns one item, notes something on it or marks it as done. Refused if the item is over, if the role may not see it,
 * or if somebody changed it since the version that the person saw. A mark as done can be taken back.
 */
export async function markAttention(
  app: App,
  scope: AttentionScope,
  sources: AttentionSources,
  { key, change }: { readonly key: AttentionKey & { readonly kind: AttentionKind }; readonly change: AttentionChange },
): Promise<AnnotationOutcome> {
  if (!mayDo(scope.role, actionOfAttention(key.kind))) return rejected('attention_over');
  const isSame = (one: AttentionKey): boolean =>
    one.kind === key.kind && one.subject === key.subject && one.occurrence === key.occurrence;
  const isOpen = (await attentionItems(app, scope, sources)).some(isSame);
  return app.db.transaction().execute(async (trx) => {
    const [before] = await attentionMarks(trx, scope, [key]);
    if (!isOpen && (before === undefined || before.doneAt === null)) return rejected('attention_over');
    const { assignedTo, note, isDone, version } = change;
    if (typeof assignedTo === 'string') {
      const people = await projectAssignees(trx, scope.projectId);
      if (!people.some(({ id }) => id === assignedTo)) return rejected('assignee', { param: 'assignedTo' });
    }
    const now = app.clock();
    const by = app.actor?.kind === 'person' ? app.actor.id : null;
    const after = {
      ...key,
      assignedTo: assignedTo === undefined ? (before?.assignedTo ?? null) : assignedTo,
      note: note === undefined ? (before?.note ?? null) : readNote(note),
      doneAt: isDone === undefined ? (before?.doneAt ?? null) : isDone ? now : null,
      doneBy: isDone === undefined ? (before?.doneBy ?? null) : isDone ? by : null,
      version: version + 1,
    };
    if (!(await saveAttentionMark(trx, scope, after, now))) return rejected('attention_changed');
    await notifyAttention(trx, scope.projectId, scope.mode);
    await recordAudit(app, trx, {
      action: isDone === true ? 'attention.done' : isDone === false ? 'attention.reopen' : 'attention.change',
      projectId: scope.projectId,
      subject: { kind: 'attention', id: `${key.kind} ${key.subject}` },
      before: { assigned_to: before?.assignedTo ?? null },
      // The audit log cannot be deleted, so it keeps no text of a note.
      after: { assigned_to: after.assignedTo, has_note: after.note !== null },
    });
    return { kind: 'done' };
  });
}

function readNote(text: string): string | null {
  const note = text.replaceAll(/\r\n?/g, '\n').trim();
  return note === '' ? null : note;
}
