import { useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Notice } from '../../ui/notice.tsx';
import { webhooksKey } from './queries.ts';
import { MEANINGS } from './meanings.ts';
import css from './webhooks.module.css';
import { useChange } from '../../change.ts';
import { useScope } from '../../scope.ts';

const WEBHOOKS = '/dashboard/api/projects/:project/:mode/webhooks';
type Events = AnswerOf<`GET ${typeof WEBHOOKS}`>['events'];
type EventType = Events[number]['type'];

interface EndpointFormProps {
  readonly events: Events;
  /** Null creates a new one. */
  readonly endpoint: EndpointView | null;
  readonly onSecret: (secret: string) => void;
  readonly onClose: () => void;
}

const MAX_URL = 2_048;

/** The URL of an endpoint and the events that it gets. */
export function EndpointForm({ events, endpoint, onSecret, onClose }: EndpointFormProps) {
  const { t } = useLocale('webhooks');
  const { toast } = useDashboard();
  const scope = useScope();
  const [from] = useState(() => ({
    url: endpoint?.url ?? '',
    types: endpoint?.events ?? documentedOf(events),
  }));
  const [url, setUrl] = useState(from.url);
  const [types, setTypes] = useState<readonly EventType[]>(from.types);
  const [isChecked, check] = useState(false);
  const save = useChange({
    send: async (api) => {
      const body = { url, events: [...types] };
      if (endpoint === null) return (await api(`POST ${WEBHOOKS}`, { params: { ...scope }, body })).secret;
      await api(`POST ${WEBHOOKS}/:endpoint`, {
        params: { ...scope, endpoint: endpoint.id },
        body: { ...body, shown: { url: from.url, events: [...from.types] } },
      });
      return null;
    },
    stale: webhooksKey(scope),
    onDone: (secret) => {
      if (secret !== null) return onSecret(secret);
      toast(t('endpoint_changed'));
      onClose();
    },
  });
  const submit = (): void => {
    check(true);
    if (types.length > 0) save.mutate();
  };
  return (
    <FormDialog
      name={t(endpoint === null ? 'create_endpoint' : 'change_endpoint')}
      confirm={t(endpoint === null ? 'create_endpoint' : 'save')}
      text={t(endpoint === null ? `create_endpoint_text_${scope.mode}` : 'change_endpoint_text')}
      isDirty={url !== from.url || types.join() !== from.types.join()}
      action={{ mutate: submit, isPending: save.isPending, error: save.error }}
      fields={['url']}
      onClose={onClose}
    >
      <Field
        label={t('url')}
        type="url"
        required
        max={MAX_URL}
        placeholder="https://shop.example/webhooks"
        value={url}
        onValue={setUrl}
        problem={problemOf(save.error, 'url')}
        spellCheck={false}
        autoComplete="off"
      />
      <TypeChoices events={events} types={types} onTypes={setTypes} />
      {isChecked && types.length === 0 ? <Notice kind="problem">{t('event_types_missing')}</Notice> : null}
    </FormDialog>
  );
}

function documentedOf(events: Events): readonly EventType[] {
  return events.filter(({ documented }) => documented).map(({ type }) => type);
}

interface TypeChoicesProps {
  readonly events: Events;
  readonly types: readonly EventType[];
  readonly onTypes: (types: readonly EventType[]) => void;
}

function TypeChoices({ events, types, onTypes }: TypeChoicesProps) {
  const { t } = useLocale('webhooks');
  const toggle = (type: EventType, isChosen: boolean): void => {
    // In the order of the list, not of the choice.
    onTypes(events.map((one) => one.type).filter((one) => (one === type ? isChosen : types.includes(one))));
  };
  return (
    <fieldset className={css.types}>
      <legend>{t('event_types')}</legend>
      <div className={css.typesAll}>
        <LinkButton onClick={() => onTypes(documentedOf(events))}>{t('all_documented')}</LinkButton>
        <LinkButton onClick={() => onTypes([])}>{t('clear_choice')}</LinkButton>
      </div>
      {events.map(({ type, documented }) => (
        <label key={type}>
          <input
            type="checkbox"
            checked={types.includes(type)}
            onChange={(event) => toggle(type, event.currentTarget.checked)}
          />
          <span>
            <code>{type}</code>
            {documented ? null : ` · ${t('event_types_opt_in')}`}
          </span>
          <small>{t(MEANINGS[type])}</small>
        </label>
      ))}
    </fieldset>
  );
}
