import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { EndpointView } from '../../../../src/http/dashboard/webhooks/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { useScope, type Scope } from '../../scope.ts';
import { beginOf } from '../../search.ts';
import { Button, buttonClass } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Loaded } from '../../ui/placeholder.tsx';
import rows from '../../ui/row.module.css';
import { Ago, Badge, CopyButton } from '../../ui/value.tsx';
import { EndpointState } from '../webhooks/endpoint-list.tsx';
import { endpointsQuery } from '../webhooks/queries.ts';
import { keysQuery } from './key-dialogs.tsx';
import css from './keys.module.css';

/** The paths that BTCPay plugins call. */
const PLUGIN_PATHS = '/api/v1/';

/** All that a shop with a BTCPay plugin is connected with, and whether it is. `onCreate` is null without the right. */
export function ShopCard({ onCreate }: { readonly onCreate: (() => void) | null }) {
  const { t } = useLocale('keys');
  const scope = useScope();
  const keys = useQuery(keysQuery(scope));
  return (
    <Card title={t('shop_title')}>
      <Loaded query={keys} rows={4}>
        {({ api_url: address }) => (
          <div>
            <p>
              {t('shop_text')} <a href="/docs/shops">{t('read_guide')}</a>
            </p>
            <Line title={t('shop_address')} action={<CopyButton text={address}>{t('shop_copy_address')}</CopyButton>}>
              <code>{address}</code>
              <small>{t(`shop_address_${scope.mode}`)}</small>
            </Line>
            <Line title={t('shop_store')} action={<CopyButton text={scope.project}>{t('shop_copy_store')}</CopyButton>}>
              <code>{scope.project}</code>
            </Line>
            <Line
              title={t('shop_key')}
              action={
                onCreate === null ? null : (
                  <Button small onClick={onCreate}>
                    {t('shop_create_key')}
                  </Button>
                )
              }
            >
              <small>{t('shop_key_text')}</small>
            </Line>
            <Connection />
          </div>
        )}
      </Loaded>
    </Card>
  );
}

/** The messages that shops get, and the calls that they make. */
function Connection() {
  const { t } = useLocale('keys');
  const endpoints = useQuery(endpointsQuery(useScope()));
  return (
    <Loaded query={endpoints} rows={2}>
      {({ data }) => {
        const shops = data.filter(({ format }) => format === 'greenfield');
        return (
          <>
            <Line title={t('webhooks')} action={<PageLink page="webhooks" />}>
              {shops.length === 0 ? <small>{t('shop_webhook_none')}</small> : null}
              {shops.map((shop) => (
                <Webhook key={shop.id} shop={shop} />
              ))}
            </Line>
            <LastCall isConnected={shops.length > 0} />
          </>
        );
      }}
    </Loaded>
  );
}

function Webhook({ shop: { url, state, health } }: { readonly shop: EndpointView }) {
  const { t } = useLocale('keys', 'webhooks');
  return (
    <div>
      <span className={css.shop}>
        {new URL(url).host}
        <EndpointState state={state} failingSince={health.failing_since} />
      </span>
      <small>
        {health.last_attempt_at === null ? (
          t('health_idle')
        ) : (
          <>
            {t('shop_message')} <Ago iso={health.last_attempt_at} />
          </>
        )}
      </small>
    </div>
  );
}

function LastCall({ isConnected }: { readonly isConnected: boolean }) {
  const { t, dateTime } = useLocale('keys');
  // Without a shop, the server would look through the calls of all other programs: a day of them is enough.
  const since = beginOf(isConnected ? '30d' : '24h') ?? '';
  const calls = useQuery(callQuery(useScope(), since));
  return (
    <Line title={t('shop_call')} action={<PageLink page="requests" search={{ path: PLUGIN_PATHS }} />}>
      <Loaded query={calls} rows={1}>
        {({ data: [call] }) =>
          call === undefined ? (
            <small>{t('shop_call_none', { when: dateTime(since) })}</small>
          ) : (
            <>
              {call.error === null ? null : <Badge tone="bad">{t('shop_call_refused', { status: call.status })}</Badge>}
              <small>
                <Ago iso={call.at} /> · {call.key.name ?? call.key.id}
                {call.error === null ? null : ` · ${call.error.message}`}
              </small>
            </>
          )
        }
      </Loaded>
    </Line>
  );
}

interface LineProps {
  readonly title: string;
  readonly action: ReactNode;
  readonly children: ReactNode;
}

function Line({ title, action, children }: LineProps) {
  return (
    <div className={rows.row}>
      <div>
        <b>{title}</b>
        <div>{children}</div>
      </div>
      {action}
    </div>
  );
}

interface PageLinkProps {
  readonly page: 'webhooks' | 'requests';
  readonly search?: Readonly<Record<string, string>>;
}

function PageLink({ page, search = {} }: PageLinkProps) {
  const { t } = useLocale();
  return (
    <Link
      className={buttonClass({ small: true })}
      to={`/projects/$project/$mode/${page}`}
      params={useScope()}
      search={search}
    >
      {t(page)}
    </Link>
  );
}

/** Calls are saved at intervals, and no stream reports them. */
const EVERY_MS = 30_000;

function callQuery({ project, mode }: Scope, since: string) {
  const query = reads(['shop-call'], 'GET /dashboard/api/projects/:project/:mode/requests', {
    params: { project, mode },
    query: { path: PLUGIN_PATHS, limit: 1, created_after: since },
  });
  return { ...query, refetchInterval: EVERY_MS };
}
