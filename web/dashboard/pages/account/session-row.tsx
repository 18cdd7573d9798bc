import type { ReactNode } from 'react';
import rows from '../../ui/row.module.css';
import { Ago } from '../../ui/value.tsx';

const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

/** `Firefox · Windows` for a User-Agent, which may be false; null if none of it is recognized. */
export function deviceName(userAgent: string | null): string | null {
  const named = [BROWSERS, SYSTEMS].map((table) => table.find(([sign]) => sign.test(userAgent ?? ''))?.[1]);
  const known = named.filter((name) => name !== undefined);
  return known.length === 0 ? null : known.join(' · ');
}

interface SessionRowProps {
  readonly session: {
    readonly ip: string;
    readonly user_agent: string | null;
    readonly is_current: boolean;
    readonly last_used_at: string;
  };
  readonly name: string;
  /** The words for the session of this page, and for when a session was used. */
  readonly own: string;
  readonly used: string;
  readonly children: ReactNode;
}

/** One session, with what can be done about it. */
export function SessionRow({ session, name, own, used, children }: SessionRowProps) {
  const { ip, user_agent: userAgent, is_current: isCurrent, last_used_at: usedAt } = session;
  return (
    <li className={rows.row}>
      <div>
        <b>{name}</b>
        {isCurrent ? <span className={rows.badge}>{own}</span> : null}
        <small title={userAgent ?? undefined}>
          {ip} · {used} <Ago iso={usedAt} />
        </small>
      </div>
      {children}
    </li>
  );
}
