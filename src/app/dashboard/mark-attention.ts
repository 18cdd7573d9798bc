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
import { wake } from '../../store/wake.ts';
import { recordAudit } from '../audit.ts';
import type { App } from '../context.ts';
import { rejected, type Rejected } from '../rejected.ts';
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

/** An item, and its change. */
interface AttentionMarking {
  readonly key: AttentionKey & { readonly kind: AttentionKind };
  readonly change: AttentionChange;
}

/**
 * Assigns one item, notes something on it or marks it as done. Refused if the item is over, if the role may not see it,
 * or if somebody changed it since the version that the person saw. A mark as done can be taken back.
 */
export async function markAttention(
  app: App,
  scope: AttentionScope,
  sources: AttentionSources,
  marking: AttentionMarking,
): Promise<AnnotationOutcome> {
  const open = openKeys(await attentionItems(app, scope, sources));
  return app.db.transaction().execute(async (trx) => {
    const outcome = await markOne(app, trx, { scope, open, people: null }, marking);
    if (outcome.kind === 'done') await wake(trx, ['attention', scope.projectId, scope.mode]);
    return outcome;
  });
}

/**
 * The same for several items, as far as possible; returns those that were not changed, with the reason. Two people may
 * act on the same items: the second is refused each one that the first has changed.
 */
export async function markManyAttention(
  app: App,
  scope: AttentionScope,
  sources: AttentionSources,
  markings: readonly AttentionMarking[],
): Promise<readonly { readonly key: AttentionMarking['key']; readonly refusal: Rejected }[]> {
  const open = openKeys(await attentionItems(app, scope, sources));
  // In one order, so that two people who act on the same items do not wait for each other in a circle.
  const sorted = markings.toSorted((a, b) => (textOf(a.key) < textOf(b.key) ? -1 : 1));
  return app.db.transaction().execute(async (trx) => {
    const people = await projectAssignees(trx, scope.projectId);
    // A person to whom nothing can be assigned is a fault of the whole request, of which nothing is done.
    const isAssigned = (id: string): boolean => people.some((one) => one.id === id);
    const bad = sorted.find(({ change: { assignedTo } }) => typeof assignedTo === 'string' && !isAssigned(assignedTo));
    if (bad !== undefined) return [{ key: bad.key, refusal: rejected('assignee', { param: 'assignedTo' }) }];
    const refused: { readonly key: AttentionMarking['key']; readonly refusal: Rejected }[] = [];
    for (const marking of sorted) {
      const outcome = await markOne(app, trx, { scope, open, people }, marking);
      if (outcome.kind !== 'done') refused.push({ key: marking.key, refusal: outcome });
    }
    if (refused.length < sorted.length) await wake(trx, ['attention', scope.projectId, scope.mode]);
    return refused;
  });
}

const textOf = ({ kind, subject, occurrence }: AttentionKey): string => JSON.stringify([kind, subject, occurrence]);

function openKeys(items: readonly AttentionKey[]): ReadonlySet<string> {
  return new Set(items.map(textOf));
}

interface Present {
  readonly scope: AttentionScope;
  /** The keys of the open items that the role may see. */
  readonly open: ReadonlySet<string>;
  /** The people who can be assigned, if they were read. */
  readonly people: readonly Assignee[] | null;
}

async function markOne(
  app: App,
  trx: Trx,
  { scope, open, people }: Present,
  { key, change }: AttentionMarking,
): Promise<AnnotationOutcome> {
  if (!mayDo(scope.role, actionOfAttention(key.kind))) return rejected('attention_over');
  const [before] = await attentionMarks(trx, scope, [key]);
  if (!open.has(textOf(key)) && (before === undefined || before.doneAt === null)) return rejected('attention_over');
  const { assignedTo, note, isDone, version } = change;
  if (typeof assignedTo === 'string') {
    const known = people ?? (await projectAssignees(trx, scope.projectId));
    if (!known.some(({ id }) => id === assignedTo)) return rejected('assignee', { param: 'assignedTo' });
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
  await recordAudit(app, trx, {
    action: isDone === true ? 'attention.done' : isDone === false ? 'attention.reopen' : 'attention.change',
    projectId: scope.projectId,
    subject: { kind: 'attention', id: `${key.kind} ${key.subject}` },
    before: { assigned_to: before?.assignedTo ?? null },
    // The audit log cannot be deleted, so it keeps no text of a note.
    after: { assigned_to: after.assignedTo, has_note: after.note !== null },
  });
  return { kind: 'done' };
}

function readNote(text: string): string | null {
  const note = text.replaceAll(/\r\n?/g, '\n').trim();
  return note === '' ? null : note;
}
