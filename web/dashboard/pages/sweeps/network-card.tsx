import type { HoldingView, NetworkView, OfferedView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Ago, CopyButton, Facts, Short } from '../../ui/value.tsx';
import { Notice } from '../../ui/notice.tsx';
import rows from '../../ui/row.module.css';
import { Amounts } from './sweep-parts.tsx';
import css from './sweeps.module.css';
import type { WalletCall } from '../../../../src/http/dashboard/contract-parts.ts';

interface NetworkCardProps {
  readonly deposits: NetworkView;
  readonly minimum: string;
  readonly maySend: boolean;
  readonly onSend: (call: OfferedView) => void;
}

/** The money on the deposits of one network, and the calls that pay it out. */
export function NetworkCard({ deposits, minimum, maySend, onSend }: NetworkCardProps) {
  const { t, fiat } = useLocale('sweeps');
  const { name, holdings, below, calls, checked_at: checkedAt, problem } = deposits;
  return (
    <Card
      title={name}
      actions={
        checkedAt === null ? undefined : (
          <small className={css.asOf}>
            {t('sweeps_as_of')} <Ago iso={checkedAt} />
          </small>
        )
      }
    >
      {problem === null ? null : (
        <div className={css.problem}>
          <Notice kind="warning">{t(problem === 'no_node' ? 'sweeps_no_node' : 'sweeps_unavailable')}</Notice>
        </div>
      )}
      {checkedAt === null ? (
        <p>{t('sweeps_never_checked')}</p>
      ) : holdings.length === 0 ? (
        <p>{t(deposits.under_way.length > 0 ? 'sweeps_all_under_way' : 'sweeps_nothing')}</p>
      ) : (
        <Holdings label={t('sweeps_lies', { network: name })} holdings={holdings} />
      )}
      {calls.length === 0 ? null : (
        <div className={css.part}>
          <h3>{t('sweep_calls')}</h3>
          <ol className={css.part} aria-label={t('sweep_calls')}>
            {calls.map((offered) => (
              <CallRow key={offered.key} offered={offered} deposits={deposits} maySend={maySend} onSend={onSend} />
            ))}
          </ol>
        </div>
      )}
      {below.length === 0 ? null : (
        <details className={classNames(css.details, css.part)}>
          <summary>{t('sweeps_below', { minimum: fiat(minimum, 'USD') })}</summary>
          <div className={css.part}>
            <Holdings label={t('sweeps_below', { minimum: fiat(minimum, 'USD') })} holdings={below} />
          </div>
        </details>
      )}
    </Card>
  );
}

function Holdings({ label, holdings }: { readonly label: string; readonly holdings: readonly HoldingView[] }) {
  const { t } = useLocale('sweeps');
  return (
    <ul aria-label={label}>
      {holdings.map((holding) => (
        <li key={`${holding.treasury} ${holding.asset}`} className={rows.row}>
          <div>
            <b>
              <Amounts amounts={[holding]} unknown={t('sweep_no_price')} />
            </b>
            <small>{t('sweep_on_deposits', { count: holding.deposits })}</small>
          </div>
          <small>
            {t('sweep_treasury')} <Short text={holding.treasury} what={t('sweep_treasury')} />
          </small>
        </li>
      ))}
    </ul>
  );
}

interface CallRowProps extends Pick<NetworkCardProps, 'deposits' | 'maySend' | 'onSend'> {
  readonly offered: OfferedView;
}

function CallRow({ offered, deposits, maySend, onSend }: CallRowProps) {
  const { t, fiat, coin: coins } = useLocale('sweeps');
  const { purpose, amounts, ready, cost, cost_usd: costUsd, gas_estimate: gas } = offered;
  const name = purpose === 'sweep' ? t('send_sweep') : t('send_factory');
  return (
    <li className={rows.row}>
      <div className={css.what}>
        <b>{purpose === 'sweep' ? <Amounts amounts={amounts} unknown={t('sweep_no_price')} /> : t('call_factory')}</b>
        {purpose === 'sweep' ? null : <small>{t('call_factory_text')}</small>}
        <small>
          {cost === null
            ? t('sweep_cost_gas', { gas })
            : costUsd === null
              ? t('sweep_cost', { cost: coins(cost, ''), coin: deposits.coin ?? '' })
              : t('sweep_cost_worth', {
                  cost: coins(cost, ''),
                  coin: deposits.coin ?? '',
                  worth: fiat(costUsd, 'USD'),
                })}
          {deposits.gas_price_gwei === null
            ? null
            : ` · ${t('sweep_gas_price', { gwei: coins(deposits.gas_price_gwei, '') })}`}
        </small>
        {ready ? null : <small>{t('call_waits_for_factory')}</small>}
        <CallDetails call={offered.call} gasLimit={offered.gas_limit} />
      </div>
      {maySend && ready ? (
        <Button small kind="primary" onClick={() => onSend(offered)}>
          {name}
        </Button>
      ) : null}
    </li>
  );
}

interface CallDetailsProps {
  readonly call: WalletCall;
  /** Null if it is no longer known. */
  readonly gasLimit: string | null;
}

/** The call for any other wallet, to copy. */
function CallDetails({ call, gasLimit }: CallDetailsProps) {
  const { t } = useLocale('sweeps', 'sending');
  return (
    <details className={css.details}>
      <summary>{t('call_to_copy')}</summary>
      <div className={css.call}>
        <Facts
          facts={[
            [t('call_to'), <Short text={call.to} what={t('call_to')} />],
            [t('call_chain'), call.chain_id],
            [t('call_value'), call.value],
            [t('call_gas_limit'), gasLimit],
            [t('call_data'), <CopyButton text={call.data}>{t('copy_call_data')}</CopyButton>],
          ]}
        />
      </div>
    </details>
  );
}
