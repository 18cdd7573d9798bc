import { useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import type { RefundableView, RefundView } from '../../../../../src/http/dashboard/refunds/contract.ts';
import { useDashboard } from '../../../dashboard.ts';
import { useLocale, type Locale } from '../../../locale.tsx';
import { problemOf, problemText } from '../../../problem.ts';
import { FormDialog } from '../../../ui/action-dialog.tsx';
import { Choices } from '../../../ui/choices.tsx';
import { Field } from '../../../ui/field.tsx';
import { Notice } from '../../../ui/notice.tsx';
import { SelectField } from '../../../ui/form.tsx';
import { networkName } from '../../../formats.ts';
import { LinkDialog } from '../link-dialog.tsx';
import { GoneDialog, useChanged, usePaymentChange } from './changed.tsx';
import { useTypedNumber } from '../../../use-typed-number.ts';
import { RefundWarnings } from './refund-warnings.tsx';
import { RefundPreview, RATE_KEY, useRateNow } from './refund-preview.tsx';
import {
  fiatDecimalsOf,
  isSome,
  refundSize,
  usualUnit,
  type RateNow,
  type RefundSize,
  type RefundUnit,
} from './refund-size.ts';

const CREATE = 'POST /dashboard/api/projects/:project/:mode/payments/:payment/refunds';
const MAX_REASON = 500;
const MAX_ADDRESS = 200;

interface RefundDialogProps {
  readonly payment: PaymentView;
  readonly onClose: () => void;
  /** Called with the new refund. */
  readonly onDone: (refund: RefundView) => void;
}

interface Fields {
  readonly unit: RefundUnit;
  readonly amount: string;
  /** Whether the address is entered here, not by the customer. */
  readonly isAny: boolean;
  readonly address: string;
  readonly reason: string;
}

/** Creates a refund, after comparing its size with the refundable amount. */
export function RefundDialog(props: RefundDialogProps) {
  const { t } = useLocale('detail', 'list');
  const { payment, onClose, onDone } = props;
  const [token, choose] = useState('');
  const [claimed, setClaimed] = useState<RefundView | null>(null);
  const choices = payment.refundable.filter(({ left }) => isSome(left));
  const money = choices.find((one) => keyOf(one) === token) ?? choices[0];
  if (claimed !== null && claimed.claim_url !== null) {
    return (
      <LinkDialog
        title={t('refund_created_title')}
        text={t('refund_claim_text')}
        of="refund"
        url={claimed.claim_url}
        email={payment.customer_email ?? ''}
        onClose={() => onDone(claimed)}
      />
    );
  }
  if (money === undefined) return <GoneDialog name={t('refund')} onClose={onClose} />;
  return (
    <RefundForm
      {...props}
      choices={choices}
      money={money}
      onToken={choose}
      onDone={(refund) => (refund.claim_url === null ? onDone(refund) : setClaimed(refund))}
    />
  );
}

interface RefundFormProps extends RefundDialogProps {
  readonly choices: readonly RefundableView[];
  readonly money: RefundableView;
  readonly onToken: (key: string) => void;
}

function RefundForm({ payment, choices, money, onToken, onClose, onDone }: RefundFormProps) {
  const locale = useLocale('detail', 'list');
  const { t } = locale;
  const { plain, coins } = useTypedNumber();
  const [fields, setFields] = useState<Fields>(() => ({
    ...EMPTY,
    unit: usualUnit(money),
    isAny: payment.can.refund === 'any',
  }));
  const set = (change: Partial<Fields>): void => setFields((before) => ({ ...before, ...change }));
  const [isChecked, setChecked] = useState(false);
  const isChanged = useChanged(JSON.stringify(payment.refundable));
  const create = useCreate(payment, onDone);
  const { unit, isAny, address, reason } = fields;
  // Nothing else reads what may mean two amounts.
  const amount = (unit === 'coin' ? coins : plain)(fields.amount) ?? '';
  const { now, error: noRate } = useRateNow(payment, money, amount, unit === 'now');
  const size = sizeOf(payment, money, unit, amount, now);
  const to = isAny ? address.trim() : null;
  const submit = (): void => {
    setChecked(true);
    if (size.kind === 'ok') create.mutate({ money, size: size.field, address: to, reason: reason.trim() });
  };
  return (
    <FormDialog
      name={t('refund')}
      text={t(payment.mode === 'test' ? 'refund_test_text' : 'refund_live_text')}
      isDirty={fields.amount !== '' || address !== '' || reason !== ''}
      action={{ ...create, mutate: submit }}
      fields={['amount', 'crypto_amount', 'address', 'reason']}
      onClose={onClose}
    >
      {isChanged ? <Notice kind="warning">{t('changed_meanwhile')}</Notice> : null}
      <RefundWarnings payment={payment} />
      {choices.length < 2 ? null : (
        <SelectField
          label={t('choose_coin')}
          value={keyOf(money)}
          options={choices.map((one) => [keyOf(one), `${one.asset} · ${networkName(one.network)}`])}
          onValue={(token) => {
            const chosen = choices.find((one) => keyOf(one) === token) ?? money;
            onToken(token);
            set({ unit: usualUnit(chosen) });
          }}
        />
      )}
      <SizeChoices payment={payment} money={money} unit={unit} onUnit={(chosen) => set({ unit: chosen })} />
      {unit === 'all' || unit === 'excess' ? null : (
        <Field
          label={t('refund_amount')}
          value={fields.amount}
          inputMode="decimal"
          autoComplete="off"
          required
          problem={
            sizeProblem(size, money, unit, isChecked, locale) ??
            problemOf(create.error, unit === 'fiat' ? 'amount' : 'crypto_amount') ??
            (noRate === null ? null : problemText(noRate, t))
          }
          onValue={(typed) => set({ amount: typed })}
        />
      )}
      <Target payment={payment} network={money.network} fields={fields} fault={create.error} onChange={set} />
      <RefundPreview payment={payment} money={money} size={size} now={unit === 'now' ? now : null} address={to} />
    </FormDialog>
  );
}

const EMPTY = { amount: '', address: '', reason: '' } as const;

interface TargetProps {
  readonly payment: PaymentView;
  readonly network: string;
  readonly fields: Fields;
  readonly fault: unknown;
  readonly onChange: (change: Partial<Fields>) => void;
}

/** The recipient's address, and the reason. */
function Target({ payment, network, fields, fault, onChange }: TargetProps) {
  const { t } = useLocale('detail', 'list');
  const { isAny, address, reason } = fields;
  return (
    <>
      {payment.can.refund === 'any' ? (
        <Choices
          label={t('refund_to')}
          value={isAny ? 'any' : 'claimed'}
          options={[
            { value: 'any', text: t('refund_to_any') },
            { value: 'claimed', text: t('refund_to_claimed') },
          ]}
          onValue={(value) => onChange({ isAny: value === 'any' })}
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
          hint={t('refund_address_hint', { network: networkName(network) })}
          problem={problemOf(fault, 'address')}
          onValue={(typed) => onChange({ address: typed })}
        />
      ) : null}
      <Field
        label={t('reason_optional')}
        value={reason}
        max={MAX_REASON}
        autoComplete="off"
        problem={problemOf(fault, 'reason')}
        onValue={(typed) => onChange({ reason: typed })}
      />
    </>
  );
}

/** `BTC bitcoin`. */
const keyOf = ({ asset, network }: RefundableView): string => `${asset} ${network}`;

function sizeOf(
  payment: PaymentView,
  money: RefundableView,
  unit: RefundUnit,
  typed: string,
  now: RateNow | null,
): RefundSize {
  const isQuoted = payment.money?.asset === money.asset && payment.money.network === money.network;
  const price = { amount: payment.amount, expected: isQuoted ? (payment.money?.expected ?? null) : null };
  return refundSize(money, price, unit, typed, fiatDecimalsOf(payment.currency), now);
}

/** Says at once that an amount is too large, and that it is invalid only when somebody tries to send it. */
function sizeProblem(
  size: RefundSize,
  { left, asset }: RefundableView,
  unit: RefundUnit,
  isChecked: boolean,
  { t, coin, number }: Locale<'detail' | 'list'>,
): string | null {
  if (size.kind === 'too_much') return t('amount_too_much', { amount: coin(left, asset) });
  if (size.kind !== 'wrong' || !isChecked) return null;
  const text = unit === 'coin' ? 'coins_wrong' : 'amount_wrong';
  return t(text, { ...size, example: number(size.decimals === 0 ? 12 : 12.5) });
}

interface SizeChoicesProps {
  readonly payment: PaymentView;
  readonly money: RefundableView;
  readonly unit: RefundUnit;
  readonly onUnit: (unit: RefundUnit) => void;
}

function SizeChoices({ payment: { currency }, money, unit, onUnit }: SizeChoicesProps) {
  const { t, fiat, coin } = useLocale('detail', 'list');
  const { asset, left, left_amount, excess, excess_amount, refunded } = money;
  const both = (coins: string, worth: string | null): string =>
    worth === null ? coin(coins, asset) : `${coin(coins, asset)} · ${fiat(worth, currency)}`;
  const options = [
    ...(excess === null
      ? []
      : [{ value: 'excess' as const, text: t('amount_excess'), detail: both(excess, excess_amount) }]),
    { value: 'all' as const, text: t('amount_all'), detail: both(left, left_amount) },
    // Only the quoted token has a rate.
    ...(left_amount === null ? [] : [{ value: 'fiat' as const, text: t('amount_fiat', { currency }) }]),
    { value: 'now' as const, text: t('amount_now', { currency }) },
    { value: 'coin' as const, text: t('amount_coin', { asset }) },
  ];
  return (
    <>
      <Notice>
        {isSome(refunded)
          ? t('amount_left_of', { amount: coin(left, asset), refunded: coin(refunded, asset) })
          : t('amount_left', { amount: coin(left, asset) })}
      </Notice>
      <Choices label={t('how_much')} value={unit} options={options} onValue={onUnit} />
    </>
  );
}

interface Wanted {
  readonly money: RefundableView;
  readonly size: Extract<RefundSize, { readonly kind: 'ok' }>['field'];
  /** Null: the customer enters one. */
  readonly address: string | null;
  readonly reason: string;
}

function useCreate(payment: PaymentView, onDone: (refund: RefundView) => void) {
  const { t } = useLocale('detail', 'list');
  const { queries } = useDashboard();
  // A form sent again after a lost answer creates no second refund.
  const [request] = useState(() => crypto.randomUUID());
  return usePaymentChange(payment.id, {
    send: (api, params, { money: { asset, network }, size, address, reason }: Wanted) => {
      const body = { ...size, asset, network, ...(address !== null && { address }), ...(reason !== '' && { reason }) };
      return api(CREATE, { params, body: { ...body, request } });
    },
    done: ({ payment: fresh, refund: id }) =>
      fresh.refunds.find((one) => one.id === id)?.claim_url === null ? t('refund_created') : null,
    onDone: ({ payment: fresh, refund: id }) => {
      const refund = fresh.refunds.find((one) => one.id === id);
      if (refund !== undefined) onDone(refund);
    },
    // A rate may be too old by now.
    onRefused: () => void queries.invalidateQueries({ queryKey: [RATE_KEY] }),
  });
}
