import { useEffect, useRef, useState } from 'react';
import type { SaleView } from '../../../src/http/dashboard/till/contract.ts';
import { ApiFault } from '../api.ts';
import { isTransient, useDashboard, useStore } from '../dashboard.ts';
import type { Scope } from '../scope.ts';
import { useSignedIn } from '../session.ts';
import { recall, remember, type Charge, type PendingCharge } from './memory.ts';
import { saleQuery } from './queries.ts';

const AGAIN_MS = 2_000;

/** The charge under way. It is sent until it is answered, also after a reload or another sign-in of the same person. */
export function useCharge(scope: Scope, onSale: (sale: SaleView) => void) {
  const { api, queries, isSignedOut } = useDashboard();
  const { person } = useSignedIn();
  const signedOut = useStore(isSignedOut);
  const [pending, setPending] = useState(() => ownPending(scope, person.id));
  // A charge that waits as the page is loaded was sent by the page before.
  const wasSent = useRef(pending !== null);
  const [hasNoAnswer, setNoAnswer] = useState(false);
  const [fault, setFault] = useState<unknown>(null);
  const keep = (next: PendingCharge | null): void => {
    remember({ pending: next });
    setPending(next);
    setNoAnswer(false);
  };
  useEffect(() => {
    if (pending === null || signedOut) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stopping = new AbortController();
    const { project, mode, body } = pending;
    const send = async (attempt: number): Promise<void> => {
      try {
        const params = { project, mode };
        const sale = await api(
          'POST /dashboard/api/projects/:project/:mode/till/sales',
          { params, body },
          stopping.signal,
        );
        if (stopping.signal.aborted) return;
        queries.setQueryData(saleQuery(scope, sale.id).queryKey, sale);
        keep(null);
        onSale(sale);
      } catch (error) {
        if (stopping.signal.aborted || (error instanceof ApiFault && error.status === 401)) return;
        // After an attempt without an answer, the server may still be at work on it.
        const isAtWork = error instanceof ApiFault && error.status === 409 && attempt > 0 && attempt < 5;
        if (isTransient(error) || isAtWork) {
          setNoAnswer(true);
          timer = setTimeout(() => void send(attempt + 1), AGAIN_MS);
          return;
        }
        keep(null);
        setFault(error);
      }
    };
    void send(wasSent.current ? 1 : 0);
    wasSent.current = true;
    return () => {
      stopping.abort();
      clearTimeout(timer);
    };
  }, [pending, signedOut]);
  return {
    isPending: pending !== null,
    hasNoAnswer,
    fault,
    charge: (body: Omit<Charge, 'request'>): void => {
      setFault(null);
      wasSent.current = false;
      keep({ ...scope, person: person.id, body: { ...body, request: crypto.randomUUID() } });
    },
    giveUp: (): void => keep(null),
  };
}

function ownPending({ project, mode }: Scope, person: string): PendingCharge | null {
  const { pending = null } = recall();
  return pending?.person === person && pending.project === project && pending.mode === mode ? pending : null;
}
