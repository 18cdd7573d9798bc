import type { DeliveryRowView } from '../../../../src/http/dashboard/contract/deliveries.ts';
import { useLocale } from '../../locale.tsx';
import { Ago } from '../../ui/moment.tsx';
import type { LogColumn } from '../log/log-table.tsx';
import { None } from '../payments/payment-table.tsx';
import { Answer, DeliveryState } from './states.tsx';

export function useDeliveryColumns(): readonly LogColumn<DeliveryRowView>[] {
  const { t, number } = useLocale('webhooks');
  return [
    { key: 'type', title: t('event'), cell: ({ type }) => type },
    { key: 'state', title: t('state'), cell: ({ state }) => <DeliveryState state={state} /> },
    {
      key: 'answer',
      title: t('answer'),
      cell: (row) => (row.attempted_at === null ? <None /> : <Answer status={row.status} stage={row.error_stage} />),
    },
    { key: 'endpoint', title: t('endpoint'), from: 'medium', cell: ({ url }) => shortUrl(url) },
    {
      key: 'duration',
      title: t('duration'),
      from: 'wide',
      isNumber: true,
      cell: (row) => (row.duration_ms === null ? <None /> : t('duration_ms', { ms: number(row.duration_ms) })),
    },
    { key: 'when', title: t('when'), isNumber: true, cell: (row) => <Ago iso={row.created_at} /> },
  ];
}

/** Without its scheme, and of its query only that there is one. */
function shortUrl(url: string): string {
  return url.replace(/^https?:\/\//, '').replace(/\?.*$/s, '?…');
}
