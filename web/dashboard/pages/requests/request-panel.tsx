import { useQuery } from '@tanstack/react-query';
import type { RequestView } from '../../../../src/http/dashboard/requests/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { useScope } from '../../scope.ts';
import { Short } from '../../ui/copy.tsx';
import { Moment } from '../../ui/moment.tsx';
import { Notice } from '../../ui/notice.tsx';
import { Fact, Facts } from '../log/facts.tsx';
import logCss from '../log/log.module.css';
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
          <Facts>
            <Fact name={t('request_status')}>{request.status}</Fact>
            <Fact name={t('request_time')}>
              <Moment iso={request.at} />
            </Fact>
            <Fact name={t('request_duration')}>{t('request_duration_ms', { ms: number(request.duration_ms) })}</Fact>
            <Fact name={t('request_key')}>{request.key.name ?? request.key.id}</Fact>
            <Fact name={t('request_client')}>
              {request.client ?? <span className={logCss.soft}>{t('request_client_hidden')}</span>}
            </Fact>
            {request.user_agent === null ? null : <Fact name={t('request_program')}>{request.user_agent}</Fact>}
            <Fact name={t('request_id')}>
              <Short text={request.request_id} what={t('request_id')} />
            </Fact>
          </Facts>
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
