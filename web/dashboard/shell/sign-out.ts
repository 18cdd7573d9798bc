import { ApiFault } from '../api.ts';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { problemText } from '../problem.ts';

/** Ends the session and reloads, so that none of the person's data stays in the tab. */
export function useSignOut(): () => Promise<void> {
  const { api, isLeaving, toast, unsaved } = useDashboard();
  const { t } = useLocale();
  return async () => {
    isLeaving.set(true);
    try {
      await api('POST /dashboard/api/sign-out');
    } catch (error) {
      // The session has ended already.
      if (!(error instanceof ApiFault && error.status === 401)) {
        isLeaving.set(false);
        return toast(problemText(error, t), 'problem');
      }
    }
    unsaved.set(0);
    location.assign('/dashboard/sign-in');
  };
}
