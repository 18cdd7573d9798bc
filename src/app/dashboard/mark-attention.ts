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
import { attentionItems, type AttentionScope, type AttentionSources } from './attention.ts';
import type { AnnotationOutcome } from './notes.ts';

/** What a person writes to one occurrence; what is left out stays. */
export interface AttentionChange {
  /** A person's id; null: nobody. */
  readonly assignedTo?: string | null | undefined;
  /** Empty: none. */
  readonly note?: string | undefined;
  readonly isDone?: boolean | undefined;
  /** The version that the person saw; 0: nothing was written yet. */
  readonly version: number;
}

/** The people to whom an item of a project can be assigned. */
export function projectAssignees(executor: Database | Trx, projectId: string): Promise<readonly Assignee[]> {
  const roles = ROLES.filter((role) => mayDo(role, 'write_notes'));
  return assignees(executor, projectId, roles);
}

const OVER = 'This is over: it needs no attention any more, and nothing was saved.';
const CHANGED = 'Somebody else has changed this meanwhile. Read what it says now, then make your change again.';

/**
 * Assigns, notes or marks as done one occurrence of what needs attention. Refused if it is over, if the role does not
 * let the person see it, or if somebody changed it since the version that the person saw. What was marked as done can
 * be taken back.
 */
export async function markAttention(
  app: App,
  scope: AttentionScope,
  sources: AttentionSources,
  { key, change }: { readonly key: AttentionKey & { readonly kind: AttentionKind }; readonly change: AttentionChange },
): Promise<AnnotationOutcome> {
  if (!mayDo(scope.role, actionOfAttention(key.kind))) return { kind: 'conflict', message: OVER };
  const isSame = (one: AttentionKey): boolean =>
    one.kind === key.kind && one.subject === key.subject && one.occurrence === key.occurrence;
  const isOpen = (await attentionItems(app, scope, sources)).some(isSame);
  return app.db.transaction().execute(async (trx) => {
    const [before] = await attentionMarks(trx, scope, [key]);
    if (!isOpen && before === undefined) return { kind: 'conflict', message: OVER };
    if (!isOpen && before?.doneAt === null) return { kind: 'conflict', message: OVER };
    const { assignedTo, note, isDone, version } = change;
    if (typeof assignedTo === 'string') {
      const people = await projectAssignees(trx, scope.projectId);
      if (!people.some(({ id }) => id === assignedTo)) {
        const message = 'assigned_to must be a person who may write notes in this project. Choose one of the list.';
        return { kind: 'refused', param: 'assigned_to', message };
      }
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
    if (!(await saveAttentionMark(trx, scope, after, now))) return { kind: 'conflict', message: CHANGED };
    await notifyAttention(trx, scope.projectId, scope.mode);
    await recordAudit(app, trx, {
      action: isDone === true ? 'attention.done' : isDone === false ? 'attention.reopen' : 'attention.change',
      projectId: scope.projectId,
      subject: { kind: 'attention', id: `${key.kind} ${key.subject}` },
      before: { assigned_to: before?.assignedTo ?? null },
      // Notes are not kept where nobody can delete them.
      after: { assigned_to: after.assignedTo, has_note: after.note !== null },
    });
    return { kind: 'done' };
  });
}

function readNote(text: string): string | null {
  const note = text.replaceAll(/\r\n?/g, '\n').trim();
  return note === '' ? null : note;
}
