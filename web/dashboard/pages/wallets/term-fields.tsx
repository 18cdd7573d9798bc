import { useState } from 'react';
import type { WalletView, WalletsView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { Field } from '../../ui/field.tsx';
import { reads } from '../../api.ts';
import { useChange, type Change } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useScope, type Scope } from '../../scope.ts';

interface Terms {
  readonly confirmations: string;
  readonly tolerance: string;
  readonly setConfirmations: (text: string) => void;
  readonly setTolerance: (text: string) => void;
  readonly isDirty: boolean;
}

/** The typed terms of a wallet. An empty field means the default. */
export function useTerms(wallet: WalletView | null): Terms {
  const [from] = useState({
    confirmations: wallet?.confirmations === null || wallet === null ? '' : String(wallet.confirmations),
    tolerance: wallet?.has_own_tolerance === true ? wallet.tolerance : '',
  });
  const [confirmations, setConfirmations] = useState(from.confirmations);
  const [tolerance, setTolerance] = useState(from.tolerance);
  const isDirty = confirmations !== from.confirmations || tolerance !== from.tolerance;
  return { confirmations, tolerance, setConfirmations, setTolerance, isDirty };
}

/** The terms in the server's form. */
export function termsOf({ confirmations, tolerance }: Terms): {
  readonly confirmations: number | null;
  readonly tolerance: string | null;
} {
  return {
    confirmations: confirmations === '' ? null : Number(confirmations),
    tolerance: tolerance.trim() === '' ? null : percentOf(tolerance),
  };
}

interface TermFieldsProps {
  readonly terms: Terms;
  readonly fault: unknown;
}

export function TermFields({ terms, fault }: TermFieldsProps) {
  const { t } = useLocale('wallets');
  return (
    <>
      <WholeNumberField
        label={t('wallet_confirmations')}
        hint={t('wallet_confirmations_hint')}
        value={terms.confirmations}
        problem={problemOf(fault, 'confirmations')}
        onValue={terms.setConfirmations}
      />
      <PercentField
        value={terms.tolerance}
        onValue={terms.setTolerance}
        problem={problemOf(fault, 'tolerance')}
        label={t('wallet_tolerance_percent')}
        hint={t('wallet_tolerance_hint')}
      />
    </>
  );
}

interface NumberFieldProps {
  readonly label: string;
  readonly value: string;
  readonly hint: string;
  readonly problem: string | null;
  readonly required?: boolean;
  readonly onValue: (text: string) => void;
}

/** A field for a whole number. The browser does not submit anything else. */
export function WholeNumberField(props: NumberFieldProps) {
  const { t } = useLocale('wallets');
  return <Field {...props} inputMode="numeric" pattern="\d{1,9}" title={t('wallet_whole_number')} autoComplete="off" />;
}

/** A field for a percentage, which the server checks. */
export function PercentField(props: NumberFieldProps) {
  return <Field {...props} inputMode="decimal" max={10} autoComplete="off" />;
}

/** A typed percentage in the server's form: some people write decimals with a comma. */
export function percentOf(text: string): string {
  return text.trim().replace(',', '.');
}

/** No stream reports the state of networks. */
const EVERY_MS = 15_000;

export function walletsQuery({ project }: Scope) {
  const query = reads(['wallets', project], 'GET /dashboard/api/projects/:project/wallets', { params: { project } });
  return { ...query, refetchInterval: EVERY_MS };
}

interface WalletsChange<Answer, Input> extends Change<Answer, Input> {
  /** The wallets of an answer. */
  readonly of: (answer: Answer) => WalletsView;
}

/** A change of wallets and terms. After a refusal all of them are read again. */
export function useWalletsChange<Answer, Input = void>({ of, ...change }: WalletsChange<Answer, Input>) {
  const { queries } = useDashboard();
  const { queryKey } = walletsQuery(useScope());
  return useChange<Answer, Input>({
    ...change,
    onDone: (answer, input) => {
      queries.setQueryData(queryKey, of(answer));
      return change.onDone?.(answer, input);
    },
    onRefused: (error) => {
      void queries.invalidateQueries({ queryKey });
      change.onRefused?.(error);
    },
  });
}
