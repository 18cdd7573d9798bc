import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useRef, useState } from 'react';
import type { SaleRow, SaleView } from '../../../src/http/dashboard/till/contract.ts';
import { ApiFault } from '../api.ts';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import type { Scope } from '../scope.ts';
import { Button } from '../ui/button.tsx';
import { classNames } from '../ui/class-names.ts';
import { Icon } from '../ui/icons.tsx';
import { Problem } from '../ui/notice.tsx';
import { NotLoaded } from '../ui/placeholder.tsx';
import { coinKey, titleOf, useCoinName } from './coins.ts';
import type { TillSettings } from './keypad.tsx';
import { recall, remember } from './memory.ts';
import { saleQuery } from './queries.ts';
import { Receipt } from './receipt.tsx';
import { beep } from './sound.ts';
import css from './till.module.css';

interface SaleProps {
  readonly scope: Scope;
  readonly id: string;
  readonly settings: TillSettings;
  readonly onEnd: () => void;
}

/** A sale, from its code to its receipt. */
export function Sale({ scope, id, settings, onEnd }: SaleProps) {
  const { t } = useLocale('till');
  const query = useQuery(saleQuery(scope, id));
  if (query.data === undefined) {
    return (
      <div className={css.alone}>
        <NotLoaded query={query} rows={6} />
        <Button onClick={onEnd}>{t('till_back')}</Button>
      </div>
    );
  }
  return <ShownSale scope={scope} sale={query.data} settings={settings} onEnd={onEnd} />;
}

interface ShownProps extends Omit<SaleProps, 'id'> {
  readonly sale: SaleView;
}

function ShownSale({ scope, sale, settings, onEnd }: ShownProps) {
  const { t, fiat } = useLocale('till');
  const [isChoosing, setChoosing] = useState(false);
  const { choose, cancel, fault } = useActions(scope, sale);
  useSounds(sale);
  const choosing = sale.state === 'choose' || (isChoosing && sale.state === 'waiting');
  const isOpen = sale.state === 'choose' || sale.state === 'waiting';
  return (
    <div className={classNames(css.sale, css[sale.state])}>
      {choosing ? (
        <Coins
          sale={sale}
          settings={settings}
          isBusy={choose.isPending}
          onChoose={(coin) => choose.mutate(coin, { onSettled: () => setChoosing(false) })}
        />
      ) : sale.pay === null ? null : (
        <Code pay={sale.pay} label={t('till_code', { amount: fiat(sale.amount, sale.currency) })} />
      )}
      <div className={css.facts}>
        <Problem error={fault} />
        <Outcome sale={choosing ? { ...sale, state: 'choose' } : sale} settings={settings} mode={scope.mode} />
        <div className={css.acts}>
          {sale.state === 'waiting' && !isChoosing && settings.coins.length > 1 ? (
            <Button onClick={() => setChoosing(true)}>{t('till_other_coin')}</Button>
          ) : null}
          {isOpen ? (
            <Button busy={cancel.isPending} onClick={() => cancel.mutate(undefined, { onSuccess: onEnd })}>
              {t('till_cancel')}
            </Button>
          ) : (
            <Button onClick={() => print()}>{t('till_print')}</Button>
          )}
          <Button kind={isOpen ? 'plain' : 'primary'} className={css.next} onClick={onEnd}>
            {t('till_new')}
          </Button>
        </div>
      </div>
      <Receipt sale={sale} scope={scope} />
    </div>
  );
}

/** The choice of a coin and the cancellation. Each answers with the sale as it is then. */
function useActions(scope: Scope, { id }: SaleView) {
  const { api, queries } = useDashboard();
  const params = { ...scope, payment: id };
  const { queryKey } = saleQuery(scope, id);
  const shared = {
    onSuccess: (sale: SaleView) => void queries.setQueryData(queryKey, sale),
    // Money may have come meanwhile.
    onError: () => void queries.invalidateQueries({ queryKey }),
  };
  const choose = useMutation({
    mutationFn: ({ asset, network }: Pick<NonNullable<SaleRow['crypto']>, 'asset' | 'network'>) =>
      api('POST /dashboard/api/projects/:project/:mode/till/sales/:payment/coin', { params, body: { asset, network } }),
    ...shared,
  });
  const cancel = useMutation({
    mutationFn: () => api('POST /dashboard/api/projects/:project/:mode/till/sales/:payment/cancel', { params }),
    ...shared,
  });
  const fault = choose.error ?? cancel.error;
  // The end of a session has a dialog of its own.
  return { choose, cancel, fault: fault instanceof ApiFault && fault.status === 401 ? null : fault };
}

/** A sound when the money is seen, counts or is gone, but none for a sale that is opened again. */
function useSounds({ state }: SaleView): void {
  const before = useRef(state);
  useEffect(() => {
    const changed = before.current !== state;
    before.current = state;
    const isHeard = state === 'seen' || state === 'paid' || state === 'gone';
    if (changed && isHeard && recall().isMuted !== true) beep(state);
  }, [state]);
}

function Code({ pay: { qr }, label }: { readonly pay: NonNullable<SaleView['pay']>; readonly label: string }) {
  return (
    <svg
      className={css.qr}
      viewBox={`0 0 ${qr.size} ${qr.size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <path d={qr.path} />
    </svg>
  );
}

interface CoinsProps {
  readonly sale: SaleView;
  readonly settings: TillSettings;
  readonly isBusy: boolean;
  readonly onChoose: (coin: TillSettings['coins'][number]) => void;
}

function Coins({ sale: { crypto }, settings: { coins }, isBusy, onChoose }: CoinsProps) {
  const { t } = useLocale('till');
  const nameOf = useCoinName();
  return (
    <div className={css.coins} role="group" aria-label={t('till_choose')}>
      {coins.map((coin) => (
        <button
          key={coinKey(coin)}
          type="button"
          aria-pressed={crypto !== null && coinKey(crypto) === coinKey(coin)}
          aria-disabled={isBusy}
          onClick={() => {
            if (isBusy) return;
            remember({ coin: coinKey(coin) });
            onChoose(coin);
          }}
        >
          {nameOf(coin)}
        </button>
      ))}
    </div>
  );
}

interface OutcomeProps {
  readonly sale: SaleView;
  readonly settings: TillSettings;
  readonly mode: Scope['mode'];
}

/** The state in words, which a screen reader hears when it changes, and the amounts. */
function Outcome({ sale, settings, mode }: OutcomeProps) {
  const { t, fiat, coin } = useLocale('till');
  const { crypto, confirmations } = sale;
  return (
    <>
      <div className={css.outcome} role="status">
        <h2>
          {sale.state === 'paid' ? <Icon name="check-circle" size={28} /> : null}
          {titleOf(sale, t)}
        </h2>
        <Sentence sale={sale} settings={settings} mode={mode} />
        {confirmations !== null && sale.paid_by !== 'confirmed' ? (
          <p>{t('confirmations', { have: confirmations.have, need: confirmations.need })}</p>
        ) : null}
      </div>
      <p className={css.sum}>
        {crypto === null || sale.pay === null ? null : <b>{coin(crypto.left, crypto.asset)}</b>}
        {crypto === null || sale.pay === null ? null : <span>{crypto.network_name}</span>}
        <strong>{fiat(sale.amount, sale.currency)}</strong>
        {sale.tip === null ? null : <span>{t('till_with_tip', { tip: fiat(sale.tip, sale.currency) })}</span>}
        {sale.note === null ? null : <span>{sale.note}</span>}
      </p>
    </>
  );
}

function Sentence({ sale, settings, mode }: OutcomeProps) {
  const { t, fiat, coin, shortTime } = useLocale('till');
  const { crypto, state, pay } = sale;
  const lines: string[] = [];
  const amounts =
    crypto === null ? null : { received: coin(crypto.received, crypto.asset), left: coin(crypto.left, crypto.asset) };
  if (state === 'choose') lines.push(t('till_choose_text'));
  if (state === 'part' && amounts !== null) lines.push(t('till_part_text', amounts));
  if (state === 'gone') lines.push(t('till_gone_text'));
  if (state === 'waiting' || state === 'part' || (state === 'gone' && pay !== null)) {
    if (pay === null) lines.push(t('till_over'));
    else {
      lines.push(t('till_until', { time: shortTime(sale.expires_at, Date.now()) }));
      if (mode === 'test') lines.push(t('till_code_test'));
      if (pay.only_address) lines.push(t('till_code_address'));
    }
  }
  if (state === 'seen') lines.push(t(sale.doubt === null ? 'till_seen_text' : `till_doubt_${sale.doubt}`));
  if (sale.paid_by === 'confirmed') lines.push(t('till_paid_confirmed'));
  if (sale.paid_by === 'seen' && settings.seen_below !== null) {
    const { amount, currency } = settings.seen_below;
    lines.push(t('till_paid_seen', { amount: fiat(amount, currency) }));
  }
  if (sale.exception === 'overpaid' && amounts !== null) lines.push(t('till_overpaid', amounts));
  if (state === 'ended' && sale.exception === 'paid_late') {
    lines.push(t(sale.status === 'cancelled' ? 'till_cancelled_late' : 'till_ended_late'));
  } else if (state === 'ended' && sale.status === 'expired') lines.push(t('till_ended_expired'));
  else if (state === 'ended' && sale.status === 'failed') lines.push(t('till_ended_failed'));
  return lines.map((line) => <p key={line}>{line}</p>);
}
