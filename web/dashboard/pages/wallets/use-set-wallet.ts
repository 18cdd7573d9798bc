import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { NetworkView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { useWalletsCache } from './queries.ts';
import { termsOf, useTerms } from './term-fields.tsx';

export const SET = 'POST /dashboard/api/projects/:project/wallets/:network';
export type Kind = NetworkView['kinds'][number];

/** What is typed of a new wallet, and the two requests that preview and save it. */
export function useSetWallet(given: NetworkView) {
  const { api } = useDashboard();
  const { project } = useScope();
  const { show, reload } = useWalletsCache();
  // The change began from this one, whatever comes meanwhile.
  const [network] = useState(given);
  const [kind, setKind] = useState<Kind>(network.wallet?.kind ?? network.kinds[0] ?? 'xpub');
  const [source, setSource] = useState('');
  const [firstIndex, setFirstIndex] = useState('');
  const terms = useTerms(network.wallet);
  const [step, setStep] = useState<'give' | 'compare'>('give');
  const params = { project, network: network.network };
  const preview = useMutation({
    mutationFn: () => api(`${SET}/preview`, { params, body: { kind, source: source.trim() } }),
    onSuccess: () => {
      setStep('compare');
      save.reset();
    },
  });
  const save = useMutation({
    mutationFn: (compared: string) =>
      api(SET, {
        params,
        body: {
          kind,
          source: source.trim(),
          ...termsOf(terms),
          first_index: firstIndex === '' ? null : Number(firstIndex),
          compared,
          version: network.version,
        },
      }),
    onSuccess: ({ wallets }) => show(wallets),
    onError: (error) => {
      reload();
      // What was typed in the first step is shown where it is.
      if (hasNumberFault(error)) setStep('give');
    },
  });
  return { network, kind, setKind, source, setSource, firstIndex, setFirstIndex, terms, step, setStep, preview, save };
}

/** Whether one of the numbers of the first step is to blame. */
export function hasNumberFault(error: unknown): boolean {
  return ['first_index', 'confirmations', 'tolerance'].some((field) => problemOf(error, field) !== null);
}
