import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { PaymentView } from '../../../../src/http/dashboard/contract/payments.ts';
import type { RefundableView, RefundView } from '../../../../src/http/dashboard/contract/refunds.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
import { Field } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { networkName } from './network-name.ts';
import { GoneDialog, useChanged } from './changed.tsx';
import { putPayment, refreshOnRefusal } from './queries.ts';
import { fiatDecimalsOf, isSome, refundSize, type RefundSize, type RefundUnit } from './refund-size.ts';

const CREATE = 'POST /dashboard/api/projects/:project/:mode/payments/:payment/refunds';
const MAX_REASON = 500;
const MAX_ADDRESS = 200;

interface RefundDialogProps {
  readonly payment: PaymentView;
  readonly onClose: () => void;
  /** Called with the new refund. */
  readonly onDone: (refund: RefundView) => void;
}

/** Creates a refund, after a check of its size against what is left. */
export function RefundDialog({ payment, onClose, onDone }: RefundDialogProps) {
  const { t } = useLocale();
  const [token, setToken] = useState('');
  const [unit, setUnit] = useState<RefundUnit>('all');
  const [typed, setTyped] = useState('');
  const [isAny, setAny] = useState(payment.can.refund === 'any');
  const [address, setAddress] = useState('');
  const [reason, setReason] = useState('');
  const [isChecked, setChecked] = useState(false);
  const choices = payment.refundable.filter(({ left }) => isSome(left));
  const money = choices.find((one) => keyOf(one) === token) ?? choices[0];
  const isChanged = useChanged(JSON.stringify(payment.refundable));
  const create = useCreate(payment, onDone);
  if (money === undefined) return <GoneDialog name={t('refund')} onClose={onClose} />;
  const size = sizeOf(payment, money, unit, typed);
  const problem = sizeProblem(size, money, isChecked, t);
  return (
    <FormDialog
      name={t('refund')}
      text={t(payment.mode === 'test' ? 'refund_test_text' : 'refund_live_text')}
      isDirty={typed !== '' || address !== '' || reason !== ''}
      action={{
        ...create,
        mutate: () => {
          setChecked(true);
          if (size.kind !== 'ok') return;
          create.mutate({ money, size: size.field, address: isAny ? address.trim() : null, reason: reason.trim() });
        },
      }}
      fields={['amount', 'crypto_amount', 'address', 'reason']}
      onClose={onClose}
    >
      {isChanged ? <Notice kind="warning">{t('changed_meanwhile')}</Notice> : null}
      {payment.refund_warnings.map((warning) => (
        <Notice key={warning} kind="warning">
          {warning}
        </Notice>
      ))}
      {choices.length < 2 ? null : (
        <SelectField
          label={t('choose_coin')}
          value={keyOf(money)}
          options={choices.map((one) => [keyOf(one), `${one.asset} · ${networkName(one.network)}`])}
          onValue={(value) => {
            setToken(value);
            setUnit('all');
          }}
        />
      )}
      <SizeChoices payment={payment} money={money} unit={unit} onUnit={setUnit} />
      {unit === 'all' || unit === 'excess' ? null : (
        <Field
          label={t('refund_amount')}
          value={typed}
          inputMode="decimal"
          autoComplete="off"
          required
          hint={<Worth size={size} unit={unit} money={money} payment={payment} />}
          problem={problem ?? problemOf(create.error, unit === 'fiat' ? 'amount' : 'crypto_amount')}
          onValue={setTyped}
        />
      )}
      {payment.can.refund === 'any' ? (
        <Choices
          label={t('refund_to')}
          value={isAny ? 'any' : 'claimed'}
          options={[
            { value: 'any', text: t('refund_to_any') },
            { value: 'claimed', text: t('refund_to_claimed') },
          ]}
          onValue={(value) => setAny(value === 'any')}
        />
      ) : (
        <Notice>{t('refund_to_claimed')}.</Notice>
      )}
      {isAny ? (
        <Field
          label={t('refund_address')}
          value={address}
          max={MAX_ADDRESS}
          required
          spellCheck={false}
          autoCapitalize="none"
          autoComplete="off"
          hint={t('refund_address_hint', { network: networkName(money.network) })}
          problem={problemOf(create.error, 'address')}
          onValue={setAddress}
        />
      ) : null}
      <Field
        label={t('reason_optional')}
        value={reason}
        max={MAX_REASON}
        autoComplete="off"
        problem={problemOf(create.error, 'reason')}
        onValue={setReason}
      />
    </FormDialog>
  );
}

function keyOf({ asset, network }: RefundableView): string {
  return `${asset} ${network}`;
}

function sizeOf(payment: PaymentView, money: RefundableView, unit: RefundUnit, typed: string): RefundSize {
  const isQuoted = payment.money?.asset === money.asset && payment.money.network === money.network;
  const price = { amount: payment.amount, expected: isQuoted ? (payment.money?.expected ?? null) : null };
  return refundSize(money, price, unit, typed, fiatDecimalsOf(payment.currency));
}

/** Says at once that an amount is too large, and that it is no amount once somebody tries to send it. */
function sizeProblem(
  size: RefundSize,
  { left, asset }: RefundableView,
  isChecked: boolean,
  t: ReturnType<typeof useLocale>['t'],
): string | null {
  if (size.kind === 'too_much') return t('amount_too_much', { amount: left, asset });
  return size.kind === 'wrong' && isChecked ? t('amount_wrong', { decimals: size.decimals }) : null;
}

interface SizeChoicesProps {
  readonly payment: PaymentView;
  readonly money: RefundableView;
  readonly unit: RefundUnit;
  readonly onUnit: (unit: RefundUnit) => void;
}

function SizeChoices({ payment: { currency }, money, unit, onUnit }: SizeChoicesProps) {
  const { t, fiat } = useLocale();
  const { asset, left, left_amount, excess, excess_amount, refunded } = money;
  const both = (coins: string, worth: string | null): string =>
    worth === null ? `${coins} ${asset}` : `${coins} ${asset} · ${fiat(worth, currency)}`;
  const options = [
    { value: 'all' as const, text: t('amount_all'), detail: both(left, left_amount) },
    ...(excess === null
      ? []
      : [{ value: 'excess' as const, text: t('amount_excess'), detail: both(excess, excess_amount) }]),
    // Only the quoted token has a rate.
    ...(left_amount === null ? [] : [{ value: 'fiat' as const, text: t('amount_fiat', { currency }) }]),
    { value: 'coin' as const, text: t('amount_coin', { asset }) },
  ];
  return (
    <>
      <Notice>
        {isSome(refunded)
          ? t('amount_left_of', { amount: left, asset, refunded })
          : t('amount_left', { amount: left, asset })}
      </Notice>
      <Choices label={t('how_much')} value={unit} options={options} onValue={onUnit} />
    </>
  );
}

interface WorthProps {
  readonly size: RefundSize;
  readonly unit: RefundUnit;
  readonly money: RefundableView;
  readonly payment: PaymentView;
}

/** The other unit of the typed amount. */
function Worth({ size, unit, money: { asset }, payment: { currency } }: WorthProps) {
  const { t, fiat } = useLocale();
  if (size.kind !== 'ok' || size.worth === null) return null;
  return t('worth', { amount: unit === 'fiat' ? `${size.worth} ${asset}` : fiat(size.worth, currency) });
}

interface Wanted {
  readonly money: RefundableView;
  readonly size: { readonly amount: string } | { readonly crypto_amount: string };
  /** Null: the customer enters one. */
  readonly address: string | null;
  readonly reason: string;
}

function useCreate(payment: PaymentView, onDone: (refund: RefundView) => void) {
  const { t } = useLocale();
  const dashboard = useDashboard();
  const scope = useScope();
  // A form sent again after a lost answer creates no second refund.
  const [form] = useState(() => crypto.randomUUID());
  return useMutation({
    mutationFn: ({ money: { asset, network }, size, address, reason }: Wanted) => {
      const body = { ...size, asset, network, ...(address !== null && { address }), ...(reason !== '' && { reason }) };
      return dashboard.api(CREATE, { params: { ...scope, payment: payment.id }, body: { ...body, request: form } });
    },
    onSuccess: ({ payment: fresh, refund: id }) => {
      putPayment(dashboard, scope, fresh);
      dashboard.toast(t('refund_created'));
      const refund = fresh.refunds.find((one) => one.id === id);
      if (refund !== undefined) onDone(refund);
    },
    onError: (error) => refreshOnRefusal(dashboard, scope, payment.id, error),
  });
}
