/** A request by an operator that cannot be met; `message` names the thing, the rule and the way out. */
export interface Rejected {
  readonly kind: 'rejected';
  /** Whether the value is invalid by itself, whatever is stored: the request was wrong. */
  readonly malformed?: boolean;
  /** Which value is to blame, where it is always the same one. */
  readonly of?: 'project' | 'person' | 'key';
  /** Where a caller has words of its own for it. */
  readonly why?: 'not_found' | 'disabled' | 'paused' | 'beyond_role';
  readonly message: string;
  /** Whether somebody else has changed it since the person saw it. */
  readonly isConflict?: true;
  /** The same for somebody at the dashboard, where the way out of `message` is a command. */
  readonly onPage?: string;
}

export function rejected(message: string): Rejected {
  return { kind: 'rejected', message };
}

/** For a value that breaks its own rule. */
export function malformed(message: string): Rejected {
  return { kind: 'rejected', malformed: true, message };
}

export function noProject(id: string): Rejected {
  return {
    ...rejected(`There is no project ${id}. List them with: cointill project list`),
    of: 'project',
    onPage: 'There is no such project any more. Choose another one in the menu at the top.',
  };
}
