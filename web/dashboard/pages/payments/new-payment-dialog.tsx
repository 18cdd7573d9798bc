import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import type { AnswerOf, BodyOf } from '../../../../src/http/dashboard/contract.ts';
import { reads } from '../../api.ts';
import { useChange } from '../../change.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { buttonClass } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Field, Select } from '../../ui/field.tsx';
import { EmailField, SelectField } from '../../ui/form.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { networkName } from '../../formats.ts';
import { LinkDialog } from './link-dialog.tsx';
import { useScope } from '../../scope.ts';
import { useTypedNumber } from '../../use-typed-number.ts';

const CREATE = 'POST /dashboard/api/projects/:project/:mode/payments';
type Made = AnswerOf<typeof CREATE>;
type Fiat = BodyOf<typeof CREATE>['currency'];

/** The choices of the time to pay, in minutes. */
const LIVES = ['15', '30', '60', '360', '1440'] as const;
type Life = (typeof LIVES)[number];
const isLife = (text: string): text is Life => LIVES.some((one) => one === text);
const USUAL_LIFE: Life = '60';

interface Fields {
  readonly amount: string;
  /** Empty: the project's. */
  readonly currency: Fiat | '';
  /** `BTC bitcoin`; empty if the customer chooses. */
  readonly token: string;
  readonly order_id: string;
  readonly description: string;
  readonly customer_email: string;
  /** Minutes; empty: the project's default. */
  readonly lives: string;
}

const EMPTY: Fields = {
  amount: '',
  currency: '',
  token: '',
  order_id: '',
  description: '',
  customer_email: '',
  lives: '',
};

/** Creates a payment by hand, and shows its link. */
export function NewPaymentDialog({ onClose }: { readonly onClose: () => void }) {
  const { t } = useLocale('detail', 'list');
  const { plain, example } = useTypedNumber();
  const { mode } = useScope();
  const [fields, setFields] = useState(EMPTY);
  const set = (change: Partial<Fields>): void => setFields((before) => ({ ...before, ...change }));
  const { offer, defaults, create } = useCreate(fields);
  const currency = fields.currency === '' ? defaults.currency : fields.currency;
  if (create.data !== undefined)
    return <Created made={create.data} email={fields.customer_email.trim()} onClose={onClose} />;
  if (offer.data === undefined || offer.data.data.length === 0) return <NoForm offer={offer} onClose={onClose} />;
  const { data: tokens, currencies } = offer.data;
  return (
    <FormDialog
      name={t('new_payment')}
      confirm={t('create_payment')}
      text={t(`new_payment_text_${mode}`, { event: fields.token === '' ? 'invoice.created' : 'order.created' })}
      isDirty={JSON.stringify(fields) !== JSON.stringify(EMPTY)}
      action={create}
      fields={['amount', 'order_id', 'description', 'customer_email']}
      onClose={onClose}
    >
      <Field
        label={t('amount')}
        value={fields.amount}
        inputMode="decimal"
        max={20}
        required
        autoComplete="off"
        problem={
          fields.amount.trim() !== '' && plain(fields.amount) === null
            ? t('not_a_number', { example: example(currency) })
            : problemOf(create.error, 'amount')
        }
        unit={
          <Select
            label={t('currency')}
            value={currency}
            options={currencies.map((one) => [one, one])}
            onValue={(value) => set({ currency: currencies.find((one) => one === value) ?? '' })}
          />
        }
        onValue={(amount) => set({ amount })}
      />
      <SelectField
        label={t('choose_coin')}
        value={fields.token}
        options={[
          ['', t('coin_by_customer')],
          ...tokens.map(({ asset, network }): [string, string] => [
            `${asset} ${network}`,
            `${asset} · ${networkName(network)}`,
          ]),
        ]}
        onValue={(token) => set({ token })}
      />
      <LivesField
        value={fields.lives === '' ? defaults.lives : fields.lives}
        usual={defaults.lives}
        onValue={(lives) => set({ lives })}
      />
      <MerchantFields fields={fields} fault={create.error} onChange={set} />
    </FormDialog>
  );
}

interface NoFormProps {
  readonly offer: ReturnType<typeof useCreate>['offer'];
  readonly onClose: () => void;
}

/** In place of the form: the currency and the coins are the shop's own, and none is guessed before they are known. */
function NoForm({ offer, onClose }: NoFormProps) {
  const { t } = useLocale('detail');
  return (
    <Dialog title={t('new_payment')} onClose={onClose}>
      {offer.data === undefined ? (
        <NotLoaded query={offer} rows={4} />
      ) : (
        <Notice kind="warning">{t('new_payment_none')}</Notice>
      )}
    </Dialog>
  );
}

interface LivesFieldProps {
  readonly value: string;
  /** The project's default, which may not be among the choices. */
  readonly usual: string;
  readonly onValue: (lives: string) => void;
}

function LivesField({ usual, ...rest }: LivesFieldProps) {
  const { t } = useLocale('detail', 'list');
  const options = [...new Set([...LIVES, usual])]
    .toSorted((a, b) => Number(a) - Number(b))
    .map((one): [string, string] => [one, isLife(one) ? t(`lives_${one}`) : t('lives_minutes', { count: one })]);
  return <SelectField {...rest} label={t('lives')} options={options} />;
}

interface MerchantFieldsProps {
  readonly fields: Fields;
  readonly fault: unknown;
  readonly onChange: (change: Partial<Fields>) => void;
}

function MerchantFields({ fields, fault, onChange }: MerchantFieldsProps) {
  const { t } = useLocale('detail', 'list');
  return (
    <>
      <Field
        label={t('order_optional')}
        value={fields.order_id}
        max={255}
        autoComplete="off"
        problem={problemOf(fault, 'order_id')}
        onValue={(order_id) => onChange({ order_id })}
      />
      <Field
        label={t('description_optional')}
        value={fields.description}
        max={1_000}
        autoComplete="off"
        hint={t('description_hint')}
        problem={problemOf(fault, 'description')}
        onValue={(description) => onChange({ description })}
      />
      <EmailField
        label={t('email_optional')}
        value={fields.customer_email}
        required={false}
        autoComplete="off"
        problem={problemOf(fault, 'customer_email')}
        onValue={(customer_email) => onChange({ customer_email })}
      />
    </>
  );
}

interface CreatedProps {
  readonly made: Made;
  readonly email: string;
  readonly onClose: () => void;
}

function Created({ made, email, onClose }: CreatedProps) {
  const { t } = useLocale('detail', 'list');
  const scope = useScope();
  return (
    <LinkDialog
      of="payment"
      url={made.payment_url}
      title={t('payment_created')}
      text={t('new_payment_done')}
      email={email}
      onClose={onClose}
    >
      <Link
        className={buttonClass({ small: true })}
        to="/projects/$project/$mode/payments/$payment"
        params={{ ...scope, payment: made.id }}
        onClick={onClose}
      >
        {t('view_payment')}
      </Link>
    </LinkDialog>
  );
}

function useCreate(fields: Fields) {
  const { unsaved } = useDashboard();
  const { plain } = useTypedNumber();
  const scope = useScope();
  const offer = useQuery(reads(['tokens'], 'GET /dashboard/api/projects/:project/:mode/tokens', { params: scope }));
  const { data } = offer;
  // A form sent again after a lost answer creates no second payment.
  const [request] = useState(() => crypto.randomUUID());
  const defaults = {
    currency: data?.defaults.currency ?? 'USD',
    lives: String(data?.defaults.expires_in_minutes ?? USUAL_LIFE),
  } as const;
  const token = data?.data.find(({ asset, network }) => `${asset} ${network}` === fields.token);
  const create = useChange({
    send: (api) => {
      const { amount, currency, lives, order_id, description, customer_email } = fields;
      const body = {
        request,
        amount: plain(amount) ?? amount.trim(),
        currency: currency === '' ? defaults.currency : currency,
        expires_in_minutes: Number(lives === '' ? defaults.lives : lives),
        ...token,
        ...(order_id.trim() !== '' && { order_id: order_id.trim() }),
        ...(description.trim() !== '' && { description: description.trim() }),
        ...(customer_email.trim() !== '' && { customer_email: customer_email.trim() }),
      };
      return api(CREATE, { params: { ...scope }, body });
    },
    onDone: () => unsaved.set(0),
  });
  return { offer, defaults, create };
}
