import { useState } from 'react';
import { useDashboard, type Access } from './dashboard.ts';
import { useLocale, type Translate } from './locale.tsx';
import { useStore } from './store.ts';

/** That the person's role was changed since they opened the project; null if it was not. */
export function accessText(access: Access | null, t: Translate): string | null {
  if (access === null || access.role === access.was) return null;
  return access.role === null ? t('access_lost') : t('your_role_changed', { role: t(`role_${access.role}`) });
}

/** That the person may do less in the project than when this component appeared; null if they may do the same. */
export function useLessAccess(): string | null {
  const { t } = useLocale();
  const now = useStore(useDashboard().access);
  const [before] = useState(now);
  if (before === null || now === null || before.actions.every((action) => now.actions.includes(action))) return null;
  return accessText({ ...now, was: before.role ?? now.was }, t);
}
