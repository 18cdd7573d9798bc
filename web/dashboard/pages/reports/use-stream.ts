import { useState } from 'react';
import { faultOf, urlOf } from '../../api.ts';
import { noteRefusal, useDashboard } from '../../dashboard.ts';
import { useScope } from '../../scope.ts';
import { requestFile } from '../payments/export-file.ts';
import { useAbort } from '../payments/use-abort.ts';

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
