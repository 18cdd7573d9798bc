import { useEffect } from 'react';
import { useDashboard } from '../dashboard.ts';

/** Names the tab after the page, and tells screen readers that it was opened. */
export function useTitle(title: string): void {
  const { announcement } = useDashboard();
  useEffect(() => {
    document.title = `${title} · Cointill`;
    announcement.set(title);
  }, [title, announcement]);
}
