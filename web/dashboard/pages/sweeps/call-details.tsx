import type { WalletCall } from '../../../../src/http/dashboard/contract/wallet-call.ts';
import { useLocale } from '../../locale.tsx';
import { CopyButton, Short } from '../../ui/copy.tsx';
import { Fact, Facts } from '../log/facts.tsx';
import css from './sweeps.module.css';

interface CallDetailsProps {
  readonly call: WalletCall;
  /** Null where it is not known any more. */
  readonly gasLimit: string | null;
}

/** The call for any other wallet, to copy. */
export function CallDetails({ call, gasLimit }: CallDetailsProps) {
  const { t } = useLocale('sweeps', 'sending');
  return (
    <details className={css.details}>
      <summary>{t('call_to_copy')}</summary>
      <div className={css.call}>
        <Facts>
          <Fact name={t('call_to')}>
            <Short text={call.to} what={t('call_to')} />
          </Fact>
          <Fact name={t('call_chain')}>{call.chain_id}</Fact>
          <Fact name={t('call_value')}>{call.value}</Fact>
          {gasLimit === null ? null : <Fact name={t('call_gas_limit')}>{gasLimit}</Fact>}
          <Fact name={t('call_data')}>
            <CopyButton text={call.data}>{t('copy_call_data')}</CopyButton>
          </Fact>
        </Facts>
      </div>
    </details>
  );
}
