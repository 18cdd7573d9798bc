import { useQuery } from '@tanstack/react-query';
import { useId, useState } from 'react';
import type { PaymentView } from '../../../../../src/http/dashboard/payments/contract.ts';
import { useLocale } from '../../../locale.tsx';
import { Button } from '../../../ui/button.tsx';
import { useLimit } from '../../../ui/field.tsx';
import { Form } from '../../../ui/form.tsx';
import { Icon } from '../../../ui/icons.tsx';
import { Notice, Problem } from '../../../ui/notice.tsx';
import css from './labels.module.css';
import { labelsQuery } from '../queries.ts';
import { usePaymentChange } from '../refund/changed.tsx';
import { useScope } from '../../../scope.ts';

const PATH = '/dashboard/api/projects/:project/:mode/payments/:payment/labels';
/** The server's limit. */
const MAX_LENGTH = 40;

interface Change {
  readonly what: 'add' | 'remove';
  readonly label: string;
}

/** A payment's labels, and a field for another one that suggests those of the project. */
export function Labels({ payment }: { readonly payment: PaymentView }) {
  const { t } = useLocale('detail', 'list');
  const { labels, can } = payment;
  const change = usePaymentChange<PaymentView, Change>(payment.id, {
    send: (api, params, { what, label }) =>
      api(what === 'add' ? `POST ${PATH}` : `POST ${PATH}/remove`, { params, body: { label } }),
    // Nobody waits for the suggestions: the field is free for the next label at once.
    stale: labelsQuery(useScope()).queryKey,
  });
  if (labels.length === 0 && !can.annotate) return null;
  return (
    <div className={css.labels}>
      {labels.length === 0 ? null : (
        <ul aria-label={t('labels')}>
          {labels.map((name) => (
            <li key={name}>
              <span>{name}</span>
              {can.annotate ? (
                <button
                  type="button"
                  aria-label={t('remove_label', { name })}
                  title={t('remove_label', { name })}
                  onClick={() => change.mutate({ what: 'remove', label: name })}
                >
                  <Icon name="close" size={13} />
                </button>
              ) : null}
            </li>
          ))}
        </ul>
      )}
      {can.annotate ? (
        <NewLabel
          isBusy={change.isPending}
          onAdd={(label, onDone) => change.mutate({ what: 'add', label }, { onSuccess: onDone })}
        />
      ) : null}
      <Problem error={change.error} />
    </div>
  );
}

interface NewLabelProps {
  readonly isBusy: boolean;
  readonly onAdd: (label: string, onDone: () => void) => void;
}

function NewLabel({ isBusy, onAdd }: NewLabelProps) {
  const { t } = useLocale('detail', 'list');
  const scope = useScope();
  const list = useId();
  const [text, setText] = useState('');
  const [isAsked, ask] = useState(false);
  const { ref, problem } = useLimit(text, MAX_LENGTH, null);
  const { data } = useQuery({ ...labelsQuery(scope), enabled: isAsked });
  return (
    <Form isDirty={text.trim() !== ''} onSubmit={() => onAdd(text.trim(), () => setText(''))}>
      <div className={css.add}>
        <input
          className={css.input}
          value={text}
          list={list}
          ref={ref}
          aria-invalid={problem !== null}
          required
          autoComplete="off"
          aria-label={t('label')}
          placeholder={t('label')}
          onFocus={() => ask(true)}
          onChange={(event) => setText(event.currentTarget.value)}
        />
        <datalist id={list}>
          {data?.map((name) => (
            <option key={name} value={name} />
          ))}
        </datalist>
        <Button small type="submit" busy={isBusy}>
          {t('add_label')}
        </Button>
      </div>
      {problem === null ? null : <Notice kind="problem">{problem}</Notice>}
    </Form>
  );
}
