import type { PeopleParts } from './parts.ts';

/** Outcomes and their messages in the log. The messages are constant, so that repetitions share one line. */
const OUTCOMES = {
  wrong_password: 'the password was wrong',
  wrong_code: 'the code was wrong',
  wrong_recovery_code: 'the recovery code was wrong',
  wrong_passkey: 'the passkey did not fit',
  too_many: 'there were too many wrong ones, so it was not checked',
} as const;

export type WrongGuess = keyof typeof OUTCOMES;

/**
 * Reports a wrong sign-in or proof. The log line has the person's id and the client's address but nothing that was
 * typed, because people type passwords into the e-mail field.
 */
export function reportGuess(
  { app, troubles }: Pick<PeopleParts, 'app' | 'troubles'>,
  what: 'sign-ins' | 'proofs',
  outcome: WrongGuess,
  { personId, ip }: { readonly personId: string | null; readonly ip: string },
): void {
  const { requestId } = app;
  troubles.happened(`wrong ${what}`, OUTCOMES[outcome], {
    outcome,
    person: personId ?? 'none',
    client: ip,
    ...(requestId === undefined ? {} : { request: requestId }),
  });
}
