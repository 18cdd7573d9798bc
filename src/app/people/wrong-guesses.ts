import type { PeopleParts } from './parts.ts';

/** What went wrong, and what is said of it; the same words each time, so that many make one line. */
const OUTCOMES = {
  wrong_password: 'the password was wrong',
  wrong_code: 'the code was wrong',
  wrong_recovery_code: 'the recovery code was wrong',
  wrong_passkey: 'the passkey did not fit',
  too_many: 'too many were wrong, and it was not looked at',
} as const;

export type WrongGuess = keyof typeof OUTCOMES;

/**
 * Reports a wrong sign-in or proof. The line has the person's id, or none, and the client's address, and nothing that
 * was typed: people type passwords where the e-mail belongs.
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
