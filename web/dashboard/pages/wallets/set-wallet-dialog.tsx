import { useId, useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { NetworkView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { problemOfForm, problemOf } from '../../problem.ts';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Below, describedBy, useLimit } from '../../ui/field.tsx';
import { Form, TextArea } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Addresses } from './check-dialog.tsx';
import css from './wallets.module.css';
import { Choices } from '../../ui/choices.tsx';
import { WholeNumberField, TermFields, termsOf, useTerms, useWalletsChange } from './term-fields.tsx';
import { useChange } from '../../change.ts';
import { useScope } from '../../scope.ts';

type Preview = AnswerOf<`${typeof SET}/preview`>;

interface SetWalletDialogProps {
  readonly network: NetworkView;
  readonly onClose: () => void;
}

/** Sets a wallet in two steps: enter its public key, then compare its first addresses. */
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

/** The comparison, without which a wallet cannot be saved. */
function Compare({ title, kind, preview, action, onBack, onClose }: CompareProps) {
  const { t } = useLocale('wallets');
  const [isCompared, compare] = useState(false);
  const box = useId();
  const { ref, problem } = useLimit(String(isCompared), undefined, null);
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
          <input
            ref={ref}
            {...describedBy(box, undefined, problem)}
            type="checkbox"
            required
            checked={isCompared}
            onChange={() => compare(!isCompared)}
          />
          {t(kind === 'treasury' ? 'i_compared_treasury' : 'i_compared')}
        </label>
        <Below id={box} hint={undefined} problem={problem} />
        <DialogActions
          confirm={t('set_wallet')}
          isBusy={action.isPending}
          problem={problemOfForm(action.error, [], t)}
          cancel={t('back')}
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

/** Shows the changes to the wallet, and advice for its owner. */
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

interface GiveWalletProps {
  readonly wallet: ReturnType<typeof useSetWallet>;
  readonly onClose: () => void;
}

/** The first step: the source of the wallet's addresses, and its terms. */
function GiveWallet({ wallet, onClose }: GiveWalletProps) {
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

const SET = 'POST /dashboard/api/projects/:project/wallets/:network';
type Kind = NetworkView['kinds'][number];

/** The typed fields of a new wallet, and the two requests that preview and save it. */
function useSetWallet(given: NetworkView) {
  const { project } = useScope();
  // The change began from this state, even if another arrives.
  const [network] = useState(given);
  const [kind, setKind] = useState<Kind>(network.wallet?.kind ?? network.kinds[0] ?? 'xpub');
  const [source, setSource] = useState('');
  const [firstIndex, setFirstIndex] = useState('');
  const terms = useTerms(network.wallet);
  const [step, setStep] = useState<'give' | 'compare'>('give');
  const params = { project, network: network.network };
  const preview = useChange({
    send: (api) => api(`${SET}/preview`, { params, body: { kind, source: source.trim() } }),
    onDone: () => {
      setStep('compare');
      save.reset();
    },
  });
  const save = useWalletsChange({
    send: (api, compared: string) =>
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
    of: ({ wallets }) => wallets,
    // A fault of the first step is shown there.
    onRefused: (error) => (hasNumberFault(error) ? setStep('give') : undefined),
  });
  return { network, kind, setKind, source, setSource, firstIndex, setFirstIndex, terms, step, setStep, preview, save };
}

/** Whether one of the numbers of the first step is to blame. */
function hasNumberFault(error: unknown): boolean {
  return ['first_index', 'confirmations', 'tolerance'].some((field) => problemOf(error, field) !== null);
}
