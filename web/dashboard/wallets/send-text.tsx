import { useLocale } from '../locale.tsx';
import { Notice } from '../ui/notice.tsx';
import type { SendEnd, SendStep } from './send-call.ts';

interface SendTextProps {
  /** The wallet's name. */
  readonly wallet: string;
  /** The network's name. */
  readonly network: string;
  /** The question to the wallet, or its outcome; null shows nothing. */
  readonly state: SendStep | SendEnd | null;
}

/** A wallet's question or answer as a sentence. The page itself reports a sent transaction. */
export function SendText({ wallet, network, state }: SendTextProps) {
  const { t } = useLocale('sending');
  if (state === null) return null;
  if (typeof state === 'string') {
    const text = state === 'confirm' ? t('wallet_confirm', { wallet }) : t('wallet_switch', { wallet, network });
    return (
      <div role="status">
        <Notice>{text}</Notice>
      </div>
    );
  }
  switch (state.kind) {
    case 'sent':
      return state.hash === null ? <Notice kind="warning">{t('wallet_no_hash', { wallet })}</Notice> : null;
    case 'declined':
      return <Notice kind="problem">{t('wallet_declined', { wallet })}</Notice>;
    case 'wrong_network':
      return <Notice kind="problem">{t('wallet_wrong_network', { wallet, network })}</Notice>;
    case 'busy':
      return <Notice kind="problem">{t('wallet_busy', { wallet })}</Notice>;
    case 'failed':
      return <Notice kind="problem">{t('wallet_failed', { wallet, reason: state.reason })}</Notice>;
    case 'stopped':
      return null;
  }
}
