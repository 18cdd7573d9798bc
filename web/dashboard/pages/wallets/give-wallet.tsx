import { useLocale } from '../../locale.tsx';
import { problemOf, problemOfForm } from '../../problem.ts';
import { Choices } from '../../ui/choices.tsx';
import { DialogActions } from '../../ui/dialog.tsx';
import { Form } from '../../ui/form.tsx';
import { TextArea } from '../../ui/text-area.tsx';
import { WholeNumberField } from './number-fields.tsx';
import { TermFields } from './term-fields.tsx';
import { hasNumberFault, type useSetWallet } from './use-set-wallet.ts';
import css from './wallets.module.css';

interface GiveWalletProps {
  readonly wallet: ReturnType<typeof useSetWallet>;
  readonly onClose: () => void;
}

/** The first step: what the wallet's addresses are derived from, and on which terms payments go there. */
export function GiveWallet({ wallet, onClose }: GiveWalletProps) {
  const { t } = useLocale('wallets');
  const { network, kind, source, firstIndex, terms, preview, save } = wallet;
  return (
    <Form isDirty={source !== ''} fault={preview.error ?? save.error} onSubmit={() => preview.mutate()}>
      {network.kinds.length > 1 ? (
        <Choices
          label={t('wallet_kind')}
          value={kind}
          options={network.kinds.map((value) => ({
            value,
            text: t(`wallet_kind_${value}`),
            detail: t(`wallet_kind_${value}_text`),
          }))}
          onValue={wallet.setKind}
        />
      ) : null}
      <TextArea
        label={t(`wallet_kind_${kind}`)}
        value={source}
        onValue={wallet.setSource}
        hint={t(`wallet_hint_${kind}`)}
        problem={problemOf(preview.error, 'source')}
        required
        rows={3}
        spellCheck={false}
        autoCapitalize="none"
        autoComplete="off"
      />
      <details className={css.more} open={hasNumberFault(save.error)}>
        <summary>{t('wallet_more')}</summary>
        <div className={css.fields}>
          {kind === 'treasury' ? null : (
            <WholeNumberField
              label={t('wallet_first_index')}
              hint={t('wallet_first_index_hint')}
              value={firstIndex}
              problem={problemOf(save.error, 'first_index')}
              onValue={wallet.setFirstIndex}
            />
          )}
          <TermFields terms={terms} fault={save.error} />
        </div>
      </details>
      <DialogActions
        onCancel={onClose}
        problem={problemOfForm(preview.error, ['source'], t)}
        isBusy={preview.isPending}
        confirm={t('show_addresses')}
      />
    </Form>
  );
}
