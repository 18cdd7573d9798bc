import { type ReactNode, useState } from 'react';
import css from './reports.module.css';
import { useLocale } from '../../locale.tsx';
import { faultOf, urlOf } from '../../api.ts';
import { noteRefusal, useDashboard } from '../../dashboard.ts';
import { useScope } from '../../scope.ts';
import { requestFile, useAbort } from '../../download.ts';

interface ScrollingProps {
  readonly label: string;
  /** Whether what is in it is about to change. */
  readonly isOld?: boolean;
  readonly children: ReactNode;
}

/** A table that scrolls sideways where it has no room, with the keyboard too. */
export function Scrolling({ label, isOld = false, children }: ScrollingProps) {
  return (
    <div className={css.scroll} role="group" aria-label={label} aria-busy={isOld} tabIndex={0}>
      {children}
    </div>
  );
}

interface WorthProps {
  /** The part of the value that is known, in `currency`. */
  readonly amount: string;
  readonly currency?: string;
  /** The number of entries, and of those whose value is unknown. */
  readonly count: number;
  readonly unknown: number;
}

/** The known part of a value, and the number of entries without one. */
export function Worth({ amount, currency = 'USD', count, unknown }: WorthProps) {
  const { t, fiat, number } = useLocale('reports');
  return (
    <>
      {unknown >= count && unknown > 0 ? null : fiat(amount, currency)}
      {unknown === 0 ? null : <span className={css.unknown}>{t('report_unknown', { count: number(unknown) })}</span>}
    </>
  );
}

interface Running<Progress> {
  /** How far it is; null: nothing is under way. */
  readonly progress: Progress | null;
  readonly fault: unknown;
  readonly start: (body: object) => void;
  readonly stop: () => void;
}

const PATH = '/dashboard/api/projects/:project/:mode/reports/';

/**
 * Asks for what is sent while it is made, one at a time. Leaving the page stops it, here and on the server; `take` gets
 * the answer, and reports how far it is.
 */
export function useStream<Progress>(
  route: 'export' | 'statement',
  first: Progress,
  take: (answer: Response, report: (progress: Progress) => void, body: object) => Promise<void>,
): Running<Progress> {
  const { begin, stop } = useAbort();
  const [fault, setFault] = useState<unknown>(null);
  const [progress, show] = useState<Progress | null>(null);
  const dashboard = useDashboard();
  const scope = useScope();
  const run = async (body: object): Promise<void> => {
    const own = begin();
    setFault(null);
    show(() => first);
    try {
      const answer = await requestFile(urlOf(PATH + route, { params: { ...scope } }), body, own.signal);
      if (!answer.ok) throw faultOf(answer.status, await answer.json().catch(() => null));
      await take(answer, show, body);
    } catch (error) {
      if (own.signal.aborted) return;
      noteRefusal(dashboard, error);
      setFault(error);
    } finally {
      // One that was stopped has ended already, or made room for the next.
      if (!own.signal.aborted) show(null);
    }
  };
  const cancel = (): void => {
    stop();
    show(null);
  };
  return { progress, fault, start: (body) => void run(body), stop: cancel };
}
