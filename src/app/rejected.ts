/** What an operator asked for cannot be done; `message` names the thing, the rule and the way out. */
export interface Rejected {
  readonly kind: 'rejected';
  /** Whether what was asked is itself no value of its kind, whatever is stored: then it was asked wrongly. */
  readonly malformed?: boolean;
  readonly message: string;
}

export function rejected(message: string): Rejected {
  return { kind: 'rejected', message };
}

/** For a value that breaks its own rule. */
export function malformed(message: string): Rejected {
  return { kind: 'rejected', malformed: true, message };
}

export function noProject(id: string): Rejected {
  return rejected(`There is no project ${id}. List them with: cointill project list`);
}
