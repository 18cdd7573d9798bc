import { useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { NetworkView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOfForm } from '../../problem.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Addresses } from './addresses.tsx';
import { GiveWallet } from './give-wallet.tsx';
import { useSetWallet, type Kind, type SET } from './use-set-wallet.ts';
import css from './wallets.module.css';

type Preview = AnswerOf<`${typeof SET}/preview`>;

interface SetWalletDialogProps {
  readonly network: NetworkView;
  readonly onClose: () => void;
}

/** Sets a wallet in two steps: give its public key, then compare its first addresses. */
export function SetWalletDialog({ network, onClose }: SetWalletDialogProps) {
  const { t } = useLocale('wallets');
  const wallet = useSetWallet(network);
  const { kind, step, setStep, preview, save } = wallet;
  const title = t('set_wallet_of', { network: network.label });
  if (save.data !== undefined) return <Saved title={title} saved={save.data} onClose={onClose} />;
  if (step === 'compare' && preview.data !== undefined) {
    const { compared } = preview.data;
    return (
      <Compare
        title={title}
        kind={kind}
        preview={preview.data}
        action={{ ...save, mutate: () => save.mutate(compared) }}
        onBack={() => setStep('give')}
        onClose={onClose}
      />
    );
  }
  return (
    <Dialog title={title} description={t('set_wallet_text')} onClose={onClose}>
      <GiveWallet wallet={wallet} onClose={onClose} />
    </Dialog>
  );
}

interface CompareProps {
  readonly title: string;
  readonly kind: Kind;
  readonly preview: Preview;
  readonly action: { readonly mutate: () => void; readonly isPending: boolean; readonly error: unknown };
  readonly onBack: () => void;
  readonly onClose: () => void;
}

/** The step without which a wallet cannot be saved. */
function Compare({ title, kind, preview, action, onBack, onClose }: CompareProps) {
  const { t } = useLocale('wallets');
  const [isCompared, compare] = useState(false);
  return (
    <Dialog title={title} description={t(`compare_text_${kind}`)} wide onClose={onClose}>
      <Form isDirty fault={action.error} onSubmit={() => action.mutate()}>
        <Addresses
          treasury={kind === 'treasury' ? preview.source : null}
          addresses={preview.addresses.map((address) => ({ address }))}
        />
        {preview.note === null ? null : <Notice>{preview.note}</Notice>}
        {preview.warnings.map((warning) => (
          <Notice key={warning} kind="warning">
            {warning}
          </Notice>
        ))}
        <label className={css.compared}>
          <input type="checkbox" required checked={isCompared} onChange={() => compare(!isCompared)} />
          {t('i_compared')}
        </label>
        <DialogActions
          confirm={t('set_wallet')}
          isBusy={action.isPending}
          problem={problemOfForm(action.error, [], t)}
          onCancel={onBack}
        />
      </Form>
    </Dialog>
  );
}

interface SavedProps {
  readonly title: string;
  readonly saved: AnswerOf<typeof SET>;
  readonly onClose: () => void;
}

/** What changed with the wallet, and what its owner should know. */
function Saved({ title, saved: { changes, warnings, note }, onClose }: SavedProps) {
  const { t } = useLocale('wallets');
  return (
    <Dialog title={title} description={t('wallet_saved')} wide onClose={onClose}>
      <div className={css.fields}>
        {changes.map((change) => (
          <p key={change} className={css.sentence}>
            {change}
          </p>
        ))}
        {[...warnings, ...(note === null ? [] : [note])].map((warning) => (
          <Notice key={warning} kind="warning">
            {warning}
          </Notice>
        ))}
        <DialogActions confirm={t('wallet_done')} onConfirm={onClose} />
      </div>
    </Dialog>
  );
}
