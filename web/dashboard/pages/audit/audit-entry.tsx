import { useId, useState } from 'react';
import type { AuditEntryView } from '../../../../src/http/dashboard/audit/contract.ts';
import { useLocale, type Translate } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import type { TextKey } from '../../texts/parts.ts';
import { LinkButton, ExpandButton } from '../../ui/button.tsx';
import { Short, Moment } from '../../ui/value.tsx';
import rows from '../../ui/row.module.css';
import { hasText } from '../../texts/load-texts.ts';
import css from './audit.module.css';

interface AuditEntryProps {
  readonly entry: AuditEntryView;
  /** Whether to show the project. */
  readonly hasProject: boolean;
  /** Filters the log by the entry's actor. */
  readonly onWho: (who: string) => void;
}

/** One change: who, what and when, with the values before and after. */
export function AuditEntry({ entry, hasProject, onWho }: AuditEntryProps) {
  const { t } = useLocale('audit');
  const { projects } = useSignedIn();
  const [isOpen, open] = useState(false);
  const id = useId();
  const { actor, action, subject, before, after } = entry;
  const name = actionText(action, t);
  const hasValues = before !== null || after !== null;
  return (
    <li className={css.entry}>
      <div className={rows.row}>
        <div>
          <b>{name}</b>
          <small>
            <Moment iso={entry.at} /> ·{' '}
            {actor.kind === 'service' ? (
              t('actor_service')
            ) : (
              <LinkButton
                title={t('audit_only_by', { name: actor.name })}
                onClick={() => onWho(actor.id ?? actor.kind)}
              >
                {actor.kind === 'command' ? `${t('actor_command')} (${actor.name})` : (actor.person_name ?? actor.name)}
              </LinkButton>
            )}
            {entry.ip === null ? null : ` ${t('audit_request', { ip: entry.ip })}`}
            {hasProject && entry.project !== null
              ? ` · ${projects.find((one) => one.id === entry.project)?.name ?? entry.project}`
              : null}
          </small>
          {subject.id === null ? null : (
            <small>
              <Short text={subject.id} what={subject.kind} />
            </small>
          )}
        </div>
        {hasValues ? (
          <ExpandButton
            isOpen={isOpen}
            controls={id}
            label={t('audit_changed_of', { action: name })}
            text={t('audit_changed')}
            onOpen={open}
          />
        ) : null}
      </div>
      {isOpen ? (
        <div id={id} className={css.values}>
          <Values before={before} after={after} />
        </div>
      ) : null}
    </li>
  );
}

type Values = AuditEntryView['before'];

function Values({ before, after }: { readonly before: Values; readonly after: Values }) {
  const { t } = useLocale('audit');
  const fields = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  return (
    <table>
      <thead>
        <tr>
          <th>{t('audit_field')}</th>
          {before === null ? null : <th>{t('audit_before')}</th>}
          {after === null ? null : <th>{t('audit_after')}</th>}
        </tr>
      </thead>
      <tbody>
        {fields.map((field) => (
          <tr key={field}>
            <th scope="row">{field.replaceAll('_', ' ')}</th>
            {before === null ? null : <td>{valueText(before[field], t)}</td>}
            {after === null ? null : <td>{valueText(after[field], t)}</td>}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function valueText(value: unknown, t: Translate<'audit'>): string {
  if (value === undefined || value === null || value === '') return t('audit_none');
  if (Array.isArray(value))
    return value.length === 0 ? t('audit_none') : value.map((one) => valueText(one, t)).join(', ');
  return typeof value === 'string' ? value : JSON.stringify(value);
}

type ActionKey = Extract<TextKey<'audit'>, `action_${string}`>;

/** In words: `key.create` is the text `action_key_create`. An action that this version does not know stays as it is. */
function actionText(action: string, t: Translate<'audit'>): string {
  const key = `action_${action.replaceAll('.', '_')}`;
  return hasText(key) ? t(key as ActionKey) : action;
}
