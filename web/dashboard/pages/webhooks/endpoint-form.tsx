import { useState } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { Choices } from '../../ui/choices.tsx';
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
type Format = EndpointView['format'];
const FORMATS = ['events', 'greenfield'] as const;

interface EndpointFormProps {
  readonly events: Events;
  /** Null creates a new one. */
  readonly endpoint: EndpointView | null;
  readonly onSecret: (made: AnswerOf<`POST ${typeof WEBHOOKS}`>) => void;
  readonly onClose: () => void;
}

const MAX_URL = 2_048;

/** The URL of an endpoint and the events that it gets. */
export function EndpointForm({ events, endpoint, onSecret, onClose }: EndpointFormProps) {
  const { t } = useLocale('webhooks');
  const scope = useScope();
  const [from] = useState(() => ({
    url: endpoint?.url ?? '',
    types: endpoint?.events ?? documentedOf(events, null),
  }));
  const [format, setFormat] = useState<Format>(endpoint?.format ?? null);
  const [url, setUrl] = useState(from.url);
  const [types, setTypes] = useState<readonly EventType[]>(from.types);
  const [isChecked, check] = useState(false);
  const save = useSave({ endpoint, onSecret, onClose }, from, { url, events: [...types], format });
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
      {endpoint === null ? (
        <FormatChoice
          format={format}
          onFormat={(chosen) => {
            setFormat(chosen);
            setTypes(documentedOf(events, chosen));
          }}
        />
      ) : null}
      <TypeChoices events={events.filter((one) => one.format === format)} types={types} onTypes={setTypes} />
      {isChecked && types.length === 0 ? <Notice kind="problem">{t('event_types_missing')}</Notice> : null}
    </FormDialog>
  );
}

interface Subscription {
  readonly url: string;
  readonly types: readonly EventType[];
}

/** Creates the endpoint, or changes it from what the person saw. */
function useSave(
  { endpoint, onSecret, onClose }: Omit<EndpointFormProps, 'events'>,
  shown: Subscription,
  { format, ...body }: { readonly url: string; readonly events: EventType[]; readonly format: Format },
) {
  const { t } = useLocale('webhooks');
  const { toast } = useDashboard();
  const scope = useScope();
  return useChange({
    send: async (api) => {
      if (endpoint === null) {
        return api(`POST ${WEBHOOKS}`, { params: { ...scope }, body: { ...body, ...(format !== null && { format }) } });
      }
      await api(`POST ${WEBHOOKS}/:endpoint`, {
        params: { ...scope, endpoint: endpoint.id },
        body: { ...body, shown: { url: shown.url, events: [...shown.types] } },
      });
      return null;
    },
    stale: webhooksKey(scope),
    onDone: (made) => {
      if (made !== null) return onSecret(made);
      toast(t('endpoint_changed'));
      onClose();
    },
  });
}

function documentedOf(events: Events, format: Format): readonly EventType[] {
  return events.filter((one) => one.documented && one.format === format).map(({ type }) => type);
}

interface FormatChoiceProps {
  readonly format: Format;
  readonly onFormat: (format: Format) => void;
}

function FormatChoice({ format, onFormat }: FormatChoiceProps) {
  const { t } = useLocale('webhooks');
  return (
    <Choices
      label={t('endpoint_format')}
      value={format ?? 'events'}
      options={FORMATS.map((value) => ({
        value,
        text: t(`endpoint_format_${value}`),
        detail: t(`endpoint_format_${value}_detail`),
      }))}
      onValue={(value) => onFormat(value === 'events' ? null : value)}
    />
  );
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
        <LinkButton onClick={() => onTypes(documentedOf(events, events[0]?.format ?? null))}>
          {t('all_documented')}
        </LinkButton>
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
