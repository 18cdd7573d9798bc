import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { NetworkView, OfferedView } from '../../../../src/http/dashboard/sweeps/contract.ts';
import { useLocale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Page } from '../../shell/page.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Empty, NotLoaded } from '../../ui/placeholder.tsx';
import { Problem } from '../../ui/notice.tsx';
import rows from '../../ui/row.module.css';
import { History, OpenSweeps } from './open-sweeps.tsx';
import { NetworkCard } from './network-card.tsx';
import { SWEEPS, sweepsKey, sweepsQuery } from './sweep-parts.tsx';
import { SendDialog } from './send-dialog.tsx';
import css from './sweeps.module.css';
import { useChange } from '../../change.ts';
import { useScope } from '../../scope.ts';

/** The money on deposit contracts, the calls that pay it out, and past sweeps. */
export function SweepsPage() {
  const { t } = useLocale('sweeps');
  const scope = useScope();
  if (scope.mode === 'live') return <LiveSweeps />;
  return (
    <Page title={t('sweeps')}>
      <Card>
        <Empty icon="sweep" title={t('sweeps_test_title')} text={t('sweeps_test_text')} />
      </Card>
    </Page>
  );
}

function LiveSweeps() {
  const { t } = useLocale('sweeps');
  const scope = useScope();
  const maySend = useActions().includes('send_sweeps');
  const overview = useQuery(sweepsQuery(scope));
  const [sending, setSending] = useState<{ readonly deposits: NetworkView; readonly offered: OfferedView } | null>(
    null,
  );
  const check = useChange({
    send: (api) => api(`POST ${SWEEPS}/check`, { params: scope, body: {} }),
    shows: sweepsQuery(scope),
    stale: sweepsKey(scope),
  });
  const { data } = overview;
  const hasDeposits = data !== undefined && data.networks.length > 0;
  return (
    <Page
      title={t('sweeps')}
      hasTimes
      actions={
        hasDeposits ? (
          <Button icon="refresh" busy={check.isPending} onClick={() => check.mutate()}>
            {t('sweeps_check')}
          </Button>
        ) : undefined
      }
    >
      <p className={css.intro}>{t('sweeps_intro')}</p>
      <div className={rows.stack}>
        <Problem error={check.error} />
        {data === undefined ? (
          <Card>
            <NotLoaded query={overview} rows={4} />
          </Card>
        ) : hasDeposits ? (
          <>
            <OpenSweeps sweeps={data.open} maySend={maySend} />
            {data.networks.map((deposits) => (
              <NetworkCard
                key={deposits.network}
                deposits={deposits}
                minimum={data.minimum_usd}
                maySend={maySend}
                onSend={(offered) => setSending({ deposits, offered })}
              />
            ))}
            <History />
          </>
        ) : (
          <Card>
            <Empty icon="sweep" title={t('sweeps_none_title')} text={t('sweeps_none_text')} />
          </Card>
        )}
      </div>
      {sending === null ? null : <SendDialog {...sending} onClose={() => setSending(null)} />}
    </Page>
  );
}
