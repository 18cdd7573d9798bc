import { useSuspenseQuery } from '@tanstack/react-query';
import type { SessionAnswer, SessionProject, SignedIn } from '../../src/http/dashboard/account/contract.ts';
import { sessionQuery, useDashboard, type Access, useStore } from './dashboard.ts';
import { useState } from 'react';
import { useLocale, type Translate } from './locale.tsx';
import type { Action } from '../../src/domain/role.ts';
import { useScope } from './scope.ts';

export type { SessionAnswer, SessionProject, SignedIn };

/** The session, for pages that require one. */
export function useSignedIn(): SignedIn {
  const { data } = useSuspenseQuery(sessionQuery);
  if (data.state !== 'signed_in') throw new SignedOut();
  return data;
}

/** The person's actions in the project of the address. The server checks them too. */
export function useActions(): readonly Action[] {
  const { project } = useScope();
  return useSignedIn().projects.find(({ id }) => id === project)?.actions ?? [];
}

/** The session ended between two renderings. Error boundaries leave this to the sign-in dialog. */
export class SignedOut extends Error {
  override readonly name = 'SignedOut';
}

/** A text that the person's role was changed since they opened the project; null if it was not. */
export function accessText(access: Access | null, t: Translate): string | null {
  if (access === null || access.role === access.was) return null;
  return access.role === null ? t('access_lost') : t('your_role_changed', { role: t(`role_${access.role}`) });
}

/**
 * A text that the person may do less in the project than when this component appeared; null if they may do the same.
 */
export function useLessAccess(): string | null {
  const { t } = useLocale();
  const now = useStore(useDashboard().access);
  const [before] = useState(now);
  if (before === null || now === null || before.actions.every((action) => now.actions.includes(action))) return null;
  return accessText({ ...now, was: before.role ?? now.was }, t);
}
