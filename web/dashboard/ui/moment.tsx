import { useEffect, useState } from 'react';
import { useLocale } from '../locale.tsx';

const MINUTE_MS = 60_000;

/** A relative time that keeps itself current, with the absolute one as its tooltip. */
export function Ago({ iso }: { readonly iso: string }) {
  const { relative, exactTime, t } = useLocale();
  const now = useNow(MINUTE_MS / 4);
  const isFresh = Math.abs(now - Date.parse(iso)) < MINUTE_MS;
  return (
    <time dateTime={iso} title={exactTime(iso)}>
      {isFresh ? t('just_now') : relative(iso, now)}
    </time>
  );
}

/** A time in the person's time zone. */
export function Moment({ iso }: { readonly iso: string }) {
  const { exactTime } = useLocale();
  return <time dateTime={iso}>{exactTime(iso)}</time>;
}

function useNow(everyMs: number): number {
  const [now, set] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => set(Date.now()), everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  return now;
}
