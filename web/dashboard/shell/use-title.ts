import { useEffect } from 'react';
import { useDashboard } from '../dashboard.ts';

/** Sets the tab's title and announces the page to screen readers. */
export function useTitle(title: string): void {
  const { announcement } = useDashboard();
  useEffect(() => {
    document.title = `${title} · Cointill`;
    announcement.set(title);
  }, [title, announcement]);
}
