import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { encodeId } from '../../../../src/domain/id.ts';
import type { Action as RoleAction } from '../../../../src/domain/role.ts';
import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import { useLocale } from '../../locale.tsx';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Button, buttonClass } from '../../ui/button.tsx';
import { CopyButton, Moment, personText } from '../../ui/value.tsx';
import { Select } from '../../ui/field.tsx';
import { Problem } from '../../ui/notice.tsx';
import { TextArea } from '../../ui/form.tsx';
import { describe } from './sentence.ts';
import css from './attention-page.module.css';
import { useMark } from './mark.ts';
import { useScope } from '../../scope.ts';
import type { PanelFocus } from '../../ui/keys.ts';
import { actionNames } from './action-name.ts';
import type { PaymentAction } from '../payments/payment/payment-actions.tsx';

type People = AnswerOf<'GET /dashboard/api/projects/:project/:mode/attention'>['people'];

interface ItemProps {
  readonly item: AttentionView;
  readonly people: People;
  /** The person's actions in the project. */
  readonly actions: readonly RoleAction[];
  /** Whether its payment is in the panel. */
  readonly isShown: boolean;
  readonly isChosen: boolean;
  readonly onChoose: (isChosen: boolean) => void;
  readonly onShow: PanelFocus['open'];
  readonly onAct: (payment: string, action: PaymentAction) => void;
  readonly onDone: (item: AttentionView) => void;
}

/** One item: a sentence about it, the best action, and people's notes. */
export function AttentionItem(props: ItemProps) {
  const { item, people, actions, isShown, isChosen, onChoose, onShow, onAct, onDone } = props;
  const locale = useLocale('attention');
  const { t } = locale;
  const { note } = item;
  const { title, text } = describe(item, locale);
  const [isNoting, editNote] = useState(false);
  const mark = useMark(({ change }) => (change.done === true ? onDone(item) : undefined));
  return (
    <li className={css.item} aria-current={isShown ? 'true' : undefined}>
      <Head {...{ item, title, isChosen, onChoose, onShow }} />
      <p>{text}</p>
      {note === null ? null : <blockquote className={css.note}>{note}</blockquote>}
      <Problem error={mark.error} />
      <div className={css.foot}>
        <Action item={item} actions={actions} onShow={onShow} onAct={onAct} />
        {actions.includes('write_notes') ? (
          <span className={css.mine}>
            <Select
              label={t('assign_to')}
              value={item.assigned_to?.id ?? ''}
              options={[['', t('assigned_nobody')], ...people.map((one) => [one.id, personText(one)] as const)]}
              onValue={(id) => mark.mutate({ item, change: { assigned_to: id === '' ? null : id } })}
            />
            <Button small kind="quiet" onClick={() => editNote(true)}>
              {t('attention_note')}
            </Button>
            <Button
              small
              kind="quiet"
              icon="check"
              busy={mark.isPending}
              onClick={() => mark.mutate({ item, change: { done: true } })}
            >
              {t('done')}
            </Button>
          </span>
        ) : item.assigned_to === null ? null : (
          <small>
            {t('assign_to')} {personText(item.assigned_to)}
          </small>
        )}
      </div>
      {isNoting ? <NoteDialog item={item} title={title} onClose={() => editNote(false)} /> : null}
    </li>
  );
}

interface HeadProps extends Pick<ItemProps, 'item' | 'isChosen' | 'onChoose' | 'onShow'> {
  readonly title: string;
}

/** The name of an item with its checkbox, its value and its time. */
function Head({ item: { payment, worth, at }, title, isChosen, onChoose, onShow }: HeadProps) {
  const { t, fiat } = useLocale();
  return (
    <div className={css.what}>
      <div className={css.head}>
        <label className={css.choice}>
          <input
            type="checkbox"
            aria-label={t('select_row', { name: title })}
            checked={isChosen}
            onChange={({ currentTarget }) => onChoose(currentTarget.checked)}
          />
        </label>
        <h2>
          {payment === null ? (
            title
          ) : (
            <button
              type="button"
              className={css.title}
              data-row={payment.id}
              onClick={(event) => onShow(payment.id, event)}
            >
              {title}
            </button>
          )}
        </h2>
      </div>
      <small>
        {worth === null ? null : <b className={css.worth}>{fiat(worth.amount, worth.currency)}</b>}
        {at === null ? null : <Moment iso={at} />}
      </small>
    </div>
  );
}

const WEBHOOKS = '/projects/$project/$mode/webhooks';
const WALLETS = '/projects/$project/$mode/wallets';

/** The pages that bring the best action. */
const PLACES = {
  endpoint_disabled: { to: WEBHOOKS, text: 'see_endpoint' },
  endpoint_failing: { to: WEBHOOKS, text: 'see_deliveries' },
  no_wallet: { to: WALLETS, text: 'set_wallet_now' },
  wallet_changed: { to: WALLETS, text: 'see_wallets' },
  node_behind: { to: WALLETS, text: 'see_wallets' },
  key_beyond_role: { to: '/projects/$project/$mode/keys', text: 'see_keys' },
  sweep: { to: '/projects/$project/$mode/sweeps', text: 'see_sweeps' },
} as const;

function isAtPlace(kind: AttentionView['kind']): kind is keyof typeof PLACES {
  return Object.hasOwn(PLACES, kind);
}

/** The dialogs of the actions that need no look at the payment first. */
const DIALOGS = { accept_payment: 'accept', refund: 'refund', refund_excess: 'refund' } as const;

/** The best actions: in a dialog, in the panel, by a link to another page, or at the command line. */
function Action({ item, actions, onShow, onAct }: Pick<ItemProps, 'item' | 'actions' | 'onShow' | 'onAct'>) {
  const { t } = useLocale('attention', 'detail');
  const scope = useScope();
  const { kind, payment, command, subject } = item;
  const names = actionNames(item, scope.mode, actions);
  const place = isAtPlace(kind) ? PLACES[kind] : null;
  if (place !== null) {
    return (
      <Link
        to={place.to}
        // Wallets and nodes are those of live mode.
        params={place.to === WALLETS ? { ...scope, mode: 'live' } : scope}
        search={kind === 'endpoint_failing' ? { endpoint: encodeId('endpoint', subject), state: 'failed' } : {}}
        className={buttonClass({ small: true })}
      >
        {t(place.text)}
      </Link>
    );
  }
  if (payment !== null && names.length > 0) {
    return (
      <span className={css.acts}>
        {names.map((name) => (
          <Button
            key={name}
            small
            onClick={() =>
              name === 'see_payment' || name === 'see_refund' ? onShow(payment.id) : onAct(payment.id, DIALOGS[name])
            }
          >
            {t(name)}
          </Button>
        ))}
      </span>
    );
  }
  return command === null ? null : (
    <span className={css.command}>
      <code>{command}</code>
      <CopyButton text={command}>{t('copy_what', { what: t('copy_command') })}</CopyButton>
    </span>
  );
}

interface NoteDialogProps {
  readonly item: AttentionView;
  readonly title: string;
  readonly onClose: () => void;
}

/** The server's limit. */
const MAX_NOTE = 2_000;

function NoteDialog({ item, title, onClose }: NoteDialogProps) {
  const { t } = useLocale('attention');
  // The edit began from this version, even if another arrives.
  const [from] = useState(item);
  const [text, setText] = useState(from.note ?? '');
  const save = useMark(onClose);
  const tooLong = text.trim().length > MAX_NOTE ? t('too_long', { max: MAX_NOTE }) : null;
  return (
    <FormDialog
      name={t('attention_note')}
      confirm={t('save')}
      text={title}
      isDirty={text !== (from.note ?? '')}
      action={{
        isPending: save.isPending,
        error: save.error,
        mutate: () => (tooLong === null ? save.mutate({ item: from, change: { note: text } }) : undefined),
      }}
      onClose={onClose}
    >
      <TextArea label={t('note_text')} value={text} problem={tooLong} onValue={setText} />
    </FormDialog>
  );
}
