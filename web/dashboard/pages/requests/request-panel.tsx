import { useQuery } from '@tanstack/react-query';
import type { RequestView } from '../../../../src/http/dashboard/contract/requests.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Short } from '../../ui/copy.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Notice } from '../../ui/notice.tsx';
import log from '../log/log.module.css';
import { LogPanel } from '../log/log-split.tsx';
import { requestQuery } from './queries.ts';

interface RequestPanelProps {
  readonly request: string;
  readonly onClose: () => void;
}

/** One call, and why it was refused. */
export function RequestPanel({ request: id, onClose }: RequestPanelProps) {
  const { t, number } = useLocale('requests');
  const { api } = useDashboard();
  const found = useQuery(requestQuery(api, useScope(), id));
  return (
    <LogPanel title={t('request_heading')} found={found} onClose={onClose}>
      {(request) => (
        <>
          <p>
            <strong>
              {request.method} {request.path}
            </strong>
          </p>
          <Why request={request} />
          <dl className={log.facts}>
            <dt>{t('request_status')}</dt>
            <dd>{request.status}</dd>
            <dt>{t('request_time')}</dt>
            <dd>
              <Moment iso={request.at} />
            </dd>
            <dt>{t('request_duration')}</dt>
            <dd>{t('request_duration_ms', { ms: number(request.duration_ms) })}</dd>
            <dt>{t('request_key')}</dt>
            <dd>{request.key.name ?? request.key.id}</dd>
            <dt>{t('request_client')}</dt>
            <dd>{request.client ?? <span className={log.soft}>{t('request_client_hidden')}</span>}</dd>
            {request.user_agent === null ? null : (
              <>
                <dt>{t('request_program')}</dt>
                <dd>{request.user_agent}</dd>
              </>
            )}
            <dt>{t('request_id')}</dt>
            <dd>
              <Short text={request.request_id} what={t('request_id')} />
            </dd>
          </dl>
        </>
      )}
    </LogPanel>
  );
}

function Why({ request: { error, status } }: { readonly request: RequestView }) {
  const { t } = useLocale('requests');
  if (error === null) return null;
  return (
    <Notice kind="warning">
      <strong>{t(status >= 500 ? 'request_why_failed' : 'request_why')}</strong>
      <p>{error.message}</p>
      <p>
        <code>{error.type}</code>
        {error.param === null ? null : ` · ${t('request_field')}: ${error.param}`}
      </p>
    </Notice>
  );
}
