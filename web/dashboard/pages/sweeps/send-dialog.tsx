import { useEffect, useRef, useState } from 'react';
import type { NetworkView, OfferedView, SweepView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import type { Wallet } from '../../../wallets/announcement.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Problem } from '../../ui/notice.tsx';
import { sendCall, type SendEnd, type SendStep } from '../../wallets/send-call.ts';
import { WalletPicker, SendText } from '../../wallets/wallet-picker.tsx';
import { Amounts, SWEEPS, sweepsKey } from './sweep-parts.tsx';
import css from './sweeps.module.css';
import { useScope } from '../../scope.ts';

interface SendDialogProps {
  readonly offered: OfferedView;
  readonly deposits: NetworkView;
  readonly onClose: () => void;
}

type Sent = Extract<SendEnd, { readonly kind: 'sent' }>;

/** The call is reserved before a wallet is asked, so that nobody else sends it meanwhile. */
function useSend({ offered, deposits, onClose }: SendDialogProps) {
  const { t } = useLocale('sweeps');
  const { api, queries, toast } = useDashboard();
  const scope = useScope();
  const [wallet, setWallet] = useState<Wallet | null>(null);
  const [isAsking, setAsking] = useState(false);
  const [state, setState] = useState<SendStep | SendEnd | null>(null);
  const [problem, setProblem] = useState<unknown>(null);
  /** Sent, but the server was not reached: it must learn the hash, or it offers the call again. */
  const [unsaved, setUnsaved] = useState<{ readonly sweep: SweepView; readonly sent: Sent } | null>(null);
  const isOpen = useRef(true);
  useEffect(() => {
    isOpen.current = true;
    return () => void (isOpen.current = false);
  }, []);

  const refresh = () => queries.invalidateQueries({ queryKey: sweepsKey(scope) });
  const save = async (sweep: SweepView, sent: Sent): Promise<void> => {
    setProblem(null);
    try {
      const body = { hash: sent.hash, ...(/^0x[0-9a-f]{40}$/i.test(sent.from) && { sender: sent.from }) };
      await api(`POST ${SWEEPS}/:sweep/sent`, { params: { ...scope, sweep: sweep.id }, body });
      setUnsaved(null);
      toast(t('sweep_sent_toast'));
      if (isOpen.current && sent.hash !== null) onClose();
    } catch (error) {
      setProblem(error);
      setUnsaved({ sweep, sent });
      if (!isOpen.current) toast(t('sweep_hash_missing'), 'problem');
    }
  };
  const send = async (chosen: Wallet): Promise<void> => {
    if (isAsking) return;
    setAsking(true);
    setWallet(chosen);
    setProblem(null);
    setState('confirm');
    try {
      const body = { network: deposits.network, key: offered.key };
      const sweep = await api(`POST ${SWEEPS}`, { params: { ...scope }, body });
      const end = await sendCall(chosen, sweep.call ?? offered.call, deposits.chain, setState);
      setState(end);
      if (end.kind === 'sent') await save(sweep, end);
      else await api(`POST ${SWEEPS}/:sweep/give-up`, { params: { ...scope, sweep: sweep.id }, body: {} });
    } catch (error) {
      setState(null);
      setProblem(error);
    } finally {
      setAsking(false);
      await refresh();
    }
  };
  return { wallet, isAsking, state, problem, unsaved, send, save };
}

/** Sends one call with a wallet of this browser. */
export function SendDialog(props: SendDialogProps) {
  const { t } = useLocale('sweeps');
  const { offered, deposits } = props;
  const { wallet, isAsking, state, problem, unsaved, send, save } = useSend(props);
  const isSent = typeof state === 'object' && state?.kind === 'sent';
  return (
    <Dialog
      title={offered.purpose === 'sweep' ? t('send_sweep') : t('send_factory')}
      description={
        offered.purpose === 'sweep' ? (
          <>
            <Amounts amounts={offered.amounts} /> · {deposits.name}. {t('send_sweep_text')}
          </>
        ) : (
          t('call_factory_text')
        )
      }
      onClose={props.onClose}
    >
      <div className={css.stack}>
        <SendText wallet={wallet?.name ?? ''} network={deposits.name} state={state} />
        <Problem error={problem} />
        {unsaved === null ? null : (
          <>
            <p>{t('sweep_unsaved')}</p>
            <Button kind="primary" onClick={() => void save(unsaved.sweep, unsaved.sent)}>
              {t('try_again')}
            </Button>
          </>
        )}
        {isSent ? null : (
          <WalletPicker asking={isAsking ? (wallet?.uuid ?? null) : null} onPick={(chosen) => void send(chosen)} />
        )}
      </div>
    </Dialog>
  );
}
