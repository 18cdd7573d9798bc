import type { PeopleParts } from './parts.ts';

/** Outcomes and their wording in the log. */
const OUTCOMES = {
  wrong_password: 'the password was wrong',
  wrong_code: 'the code was wrong',
  wrong_recovery_code: 'the recovery code was wrong',
  wrong_passkey: 'the passkey did not match',
  too_many: 'too many attempts were wrong, so this one was not checked',
} as const;

export type WrongGuess = keyof typeof OUTCOMES;

/**
 * Reports a wrong sign-in or reauthentication. The log line has the person's id and the client's address but none of
 * the typed text, because people type passwords into the e-mail field.
 */
export function reportGuess(
  { app }: Pick<PeopleParts, 'app'>,
  what: 'sign-in' | 'proof',
  outcome: WrongGuess,
  { personId, ip }: { readonly personId: string | null; readonly ip: string },
): void {
  const requestId = app.requestId ?? null;
  app.observer?.({ kind: 'guess_refused', what, reason: OUTCOMES[outcome], personId, client: ip, requestId });
}
