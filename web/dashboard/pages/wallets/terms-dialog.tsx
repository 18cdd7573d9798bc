import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { NetworkView, WalletView } from '../../../../src/http/dashboard/contract/wallets.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { useWalletsCache } from './queries.ts';
import { TermFields, termsOf, useTerms } from './term-fields.tsx';

interface TermsDialogProps {
  readonly network: NetworkView;
  readonly wallet: WalletView;
  readonly onClose: () => void;
}

/** Confirmations and tolerance of a wallet's new payments. */
export function TermsDialog({ network: given, wallet, onClose }: TermsDialogProps) {
  const { t } = useLocale('wallets');
  const { api, toast } = useDashboard();
  const { project } = useScope();
  const { show, reload } = useWalletsCache();
  const [network] = useState(given);
  const terms = useTerms(wallet);
  const save = useMutation({
    mutationFn: () =>
      api('POST /dashboard/api/projects/:project/wallets/:network/terms', {
        params: { project, network: network.network },
        body: { ...termsOf(terms), version: network.version },
      }),
    onSuccess: ({ wallets, changes }) => {
      show(wallets);
      toast(changes.join(' '));
      onClose();
    },
    onError: reload,
  });
  return (
    <FormDialog
      name={t('wallet_terms')}
      text={t('wallet_terms_text', { network: network.label })}
      isDirty={terms.isDirty}
      action={save}
      fields={['confirmations', 'tolerance']}
      onClose={onClose}
    >
      <TermFields terms={terms} fault={save.error} />
    </FormDialog>
  );
}
