import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { QueryOf } from '../../../../src/http/dashboard/contract/index.ts';
import type { ReportPreview } from '../../../../src/http/dashboard/contract/reports.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { problemText } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { useSignedIn } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Notice } from '../../ui/notice.tsx';
import { SelectField } from '../../ui/select-field.tsx';
import { SkeletonRows } from '../../ui/skeleton.tsx';
import { receiveFile, saveFile } from '../payments/export-file.ts';
import { networkName } from '../payments/network-name.ts';
import { askedDays, type Days } from './period-card.tsx';
import css from './reports.module.css';
import { Scrolling } from './scrolling.tsx';
import { useStream } from './use-stream.ts';
import { Worth } from './worth.tsx';

const REPORTS = ['payments', 'transfers', 'refunds', 'sweeps'] as const;
type Report = (typeof REPORTS)[number];
const FORMATS = ['csv', 'semicolon', 'jsonl'] as const;

interface Wanted {
  readonly report: Report;
  /** Such as `BTC bitcoin`; empty: all. */
  readonly token: string;
  readonly format: (typeof FORMATS)[number];
}

type ReportQuery = QueryOf<'GET /dashboard/api/projects/:project/:mode/reports'>;

/** Chooses a report, shows what it adds up to, and downloads it. */
export function ExportCard({ days }: { readonly days: Days }) {
  const { t } = useLocale('reports');
  const { api } = useDashboard();
  const scope = useScope();
  const [wanted, want] = useState<Wanted>({ report: 'transfers', token: '', format: 'csv' });
  const asked = askedDays(days);
  const [coin, network] = wanted.token.split(' ');
  // What can be chosen came from the server.
  const query = { ...asked, report: wanted.report, ...(wanted.token !== '' && { coin, network }) } as ReportQuery;
  const preview = useQuery({
    queryKey: ['reports', scope, query],
    queryFn: ({ signal }) =>
      api('GET /dashboard/api/projects/:project/:mode/reports', { params: { ...scope }, query }, signal),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t('report_export')} className={css.setup}>
      <p className={css.note}>{t('report_export_text')}</p>
      <Choice wanted={wanted} onWanted={want} tokens={preview.data?.tokens ?? []} />
      <p className={css.note}>{t(`report_${wanted.report}_text`)}</p>
      {preview.data !== undefined ? (
        <Totals preview={preview.data} isOld={preview.isPlaceholderData} />
      ) : preview.error === null ? (
        <SkeletonRows count={2} />
      ) : (
        <Notice kind="problem">{problemText(preview.error, t)}</Notice>
      )}
      <Download format={wanted.format} query={asked === null ? null : query} />
    </Card>
  );
}

interface ChoiceProps {
  readonly wanted: Wanted;
  readonly onWanted: (wanted: Wanted) => void;
  readonly tokens: ReportPreview['tokens'];
}

function Choice({ wanted, onWanted, tokens }: ChoiceProps) {
  const { t } = useLocale('reports');
  const { project } = useScope();
  const own = useSignedIn().projects.find(({ id }) => id === project);
  const reports = REPORTS.filter((one) => one !== 'sweeps' || own?.actions.includes('read_wallets') === true);
  const token = ({ coin, network }: (typeof tokens)[number]) =>
    [`${coin} ${network}`, `${coin} · ${networkName(network)}`] as const;
  return (
    <div className={css.fields}>
      <SelectField
        label={t('report')}
        value={wanted.report}
        options={reports.map((one) => [one, t(`report_of_${one}`)])}
        onValue={(value) => onWanted({ ...wanted, report: reports.find((one) => one === value) ?? 'transfers' })}
      />
      <SelectField
        label={t('report_coin')}
        value={wanted.token}
        options={[['', t('report_all_coins')], ...tokens.map(token)]}
        onValue={(value) => onWanted({ ...wanted, token: value })}
      />
      <SelectField
        label={t('report_format')}
        value={wanted.format}
        options={FORMATS.map((one) => [one, t(`report_${one}`)])}
        onValue={(value) => onWanted({ ...wanted, format: FORMATS.find((one) => one === value) ?? 'csv' })}
      />
    </div>
  );
}

interface DownloadProps {
  readonly format: Wanted['format'];
  /** Null while days are being typed. */
  readonly query: ReportQuery | null;
}

function Download({ format, query }: DownloadProps) {
  const { t, number } = useLocale('reports');
  const { toast } = useDashboard();
  const { progress, fault, start, stop } = useStream('export', 0, async (answer, onRows) => {
    const file = await receiveFile(answer, ({ rows }) => onRows(rows));
    saveFile(file);
    toast(t('report_done', { rows: number(file.rows) }));
  });
  const body = {
    ...query,
    format: format === 'jsonl' ? 'jsonl' : 'csv',
    ...(format === 'semicolon' && { separator: 'semicolon' }),
  };
  return (
    <>
      {fault === null ? null : <Notice kind="problem">{problemText(fault, t)}</Notice>}
      <div className={css.buttons}>
        <Button
          kind="primary"
          busy={progress !== null}
          aria-disabled={query === null}
          onClick={query === null ? undefined : () => start(body)}
        >
          {t('report_download')}
        </Button>
        {progress === null ? null : (
          <>
            <span role="status">{t('report_rows', { rows: number(progress) })}</span>
            <Button onClick={stop}>{t('report_stop')}</Button>
          </>
        )}
      </div>
    </>
  );
}

function Totals({ preview, isOld }: { readonly preview: ReportPreview; readonly isOld: boolean }) {
  const { t, number, day } = useLocale('reports');
  const { totals, from_day: from, to_day: to } = preview;
  const years = [from, to].map((one) => one.slice(0, 4));
  const label = t('report_totals', { from: `${day(from)} ${years[0]}`, to: `${day(to)} ${years[1]}` });
  if (totals === null) return <Notice>{t('report_too_many')}</Notice>;
  if (totals.length === 0) return <Notice>{t('report_nothing', { period: label })}</Notice>;
  return (
    <Scrolling label={label} isOld={isOld}>
      <table className={css.table}>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{t('report_coin')}</th>
            <th scope="col">{t('report_count')}</th>
            <th scope="col">{t('report_amount')}</th>
            <th scope="col">{t('report_usd')}</th>
          </tr>
        </thead>
        <tbody>
          {totals.map((one) => (
            <tr key={`${one.coin} ${one.network}`}>
              <th scope="row">
                {one.coin === null || one.network === null
                  ? t('report_no_coin')
                  : `${one.coin} · ${networkName(one.network)}`}
              </th>
              <td>{number(one.rows)}</td>
              <td>{one.coin === null ? '–' : one.amount}</td>
              <td>
                <Worth amount={one.usd} unknown={one.unknown} count={one.rows} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scrolling>
  );
}
