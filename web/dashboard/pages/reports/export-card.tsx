import { Link } from '@tanstack/react-router';
import { BOOKING_FORMATS, type BookingFormat } from '../../../../src/domain/bookkeeping.ts';
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { QueryOf } from '../../../../src/http/dashboard/contract.ts';
import type { ReportPreview } from '../../../../src/http/dashboard/reports/contract.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { useActions } from '../../session.ts';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Notice, Problem } from '../../ui/notice.tsx';
import { SelectField } from '../../ui/form.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import { ApiFault, urlOf, reads } from '../../api.ts';
import { LeftOut } from './left-out.tsx';
import { loadProblemText } from '../../problem.ts';
import { FORMATS, formatOf, useDownload, type Format } from '../../download.ts';
import { networkName } from '../../formats.ts';
import css from './reports.module.css';
import { decimalsOf, formatUnits, unitsOf } from '../../decimal.ts';
import type { SearchChange } from '../../search.ts';
import { REPORTS, type ReportsSearch } from './search.ts';
import { Coin } from '../../ui/value.tsx';
import { ReportTable, Worth, askedDays, type Days } from './parts.tsx';
import { useScope } from '../../scope.ts';

type Report = (typeof REPORTS)[number];

type ReportQuery = QueryOf<'GET /dashboard/api/projects/:project/:mode/reports'>;

interface ExportCardProps {
  readonly days: Days;
  readonly search: ReportsSearch;
  readonly onChange: (change: SearchChange) => void;
}

/** Chooses a report, shows its sums, and downloads it. */
export function ExportCard({ days, search, onChange }: ExportCardProps) {
  const { t } = useLocale('reports');
  const scope = useScope();
  const [table, setTable] = useState<Format>('csv');
  const [software, setSoftware] = useState<BookingFormat>('datev');
  const reports = useReports();
  const asked = askedDays(days);
  const { coin, network } = search;
  const report = reports.find((one) => one === search.report) ?? 'transfers';
  const isBookings = report === 'bookings';
  const format = isBookings ? software : table;
  // The server refuses an unknown token in the URL.
  const query = {
    ...asked,
    report,
    ...(coin !== undefined && { coin, network }),
    ...(isBookings && { format: software }),
  } as ReportQuery;
  const preview = useQuery({
    ...reads(['reports'], 'GET /dashboard/api/projects/:project/:mode/reports', { params: scope, query }),
    enabled: asked !== null,
    placeholderData: keepPreviousData,
  });
  return (
    <Card title={t('report_export')} className={css.setup}>
      <p className={css.note}>{t('report_export_text')}</p>
      <div className={css.fields}>
        <SelectField
          label={t('report')}
          value={report}
          options={reports.map((one) => [one, t(`report_of_${one}`)])}
          onValue={(value) => onChange({ report: reports.find((one) => one === value) })}
        />
        <TokenField search={search} tokens={preview.data?.tokens ?? []} onChange={onChange} />
        <SelectField
          label={t('report_format')}
          value={format}
          options={(isBookings ? BOOKING_FORMATS : FORMATS).map((one) => [one, t(`report_${one}`)])}
          onValue={(value) => {
            if (isBookings) setSoftware(BOOKING_FORMATS.find((one) => one === value) ?? 'datev');
            else setTable(FORMATS.find((one) => one === value) ?? 'csv');
          }}
        />
      </div>
      <p className={css.note}>{t(`report_${isBookings ? software : report}_text`)}</p>
      <Shown preview={preview} isBookings={isBookings} />
      {isBookings && preview.data !== undefined ? <LeftOut preview={preview.data} format={software} /> : null}
      <Download
        format={format}
        query={asked === null || preview.isError || preview.data?.totals?.length === 0 ? null : query}
      />
    </Card>
  );
}

interface ShownProps {
  readonly preview: UseQueryResult<ReportPreview>;
  readonly isBookings: boolean;
}

/** The sums, or the reason why there are none: a refusal of bookings that blames no field blames settings. */
function Shown({ preview, isBookings }: ShownProps) {
  const { t } = useLocale('reports');
  const scope = useScope();
  const mayManage = useActions().includes('manage_settings');
  const { data, error } = preview;
  if (data !== undefined) return <Totals preview={data} isOld={preview.isPlaceholderData} />;
  if (!(error instanceof ApiFault && error.status === 400)) return <NotLoaded query={preview} rows={2} />;
  return (
    <Notice kind="warning">
      {loadProblemText(error, t)}
      {isBookings && mayManage && error.param === null ? (
        <>
          {' '}
          <Link to="/projects/$project/$mode/settings" params={scope}>
            {t('report_to_settings')}
          </Link>
        </>
      ) : null}
    </Notice>
  );
}

/** The reports that the person may see. */
function useReports(): readonly Report[] {
  const actions = useActions();
  return REPORTS.filter((one) => one !== 'sweeps' || actions.includes('read_wallets'));
}

interface TokenFieldProps extends Pick<ExportCardProps, 'search' | 'onChange'> {
  readonly tokens: ReportPreview['tokens'];
}

/** Chooses one coin or all; also shows the URL's coin if it is not among the choices. */
function TokenField({ search: { coin, network }, tokens, onChange }: TokenFieldProps) {
  const { t } = useLocale('reports');
  const isKnown = coin === undefined || tokens.some((one) => one.coin === coin && one.network === network);
  const shown = isKnown ? tokens : [...tokens, { coin, network: network ?? '' }];
  return (
    <SelectField
      label={t('report_coin')}
      value={coin === undefined ? '' : `${coin} ${network}`}
      options={[
        ['', t('report_all_coins')],
        ...shown.map((one) => [`${one.coin} ${one.network}`, `${one.coin} · ${networkName(one.network)}`] as const),
      ]}
      onValue={(value) => {
        const [asset, on] = value.split(' ');
        onChange({ coin: asset, network: on });
      }}
    />
  );
}

interface DownloadProps {
  readonly format: Format | BookingFormat;
  /** Null while days are being typed, and where nothing is to be downloaded. */
  readonly query: ReportQuery | null;
}

function Download({ format, query }: DownloadProps) {
  const { t, number } = useLocale('reports');
  const { toast } = useDashboard();
  const { progress, fault, start, stop } = useDownload(
    urlOf('/dashboard/api/projects/:project/:mode/reports/export', { params: { ...useScope() } }),
    ({ rows }) => toast(t('report_done', { rows: number(rows) })),
  );
  return (
    <>
      <Problem error={fault} />
      <div className={css.buttons}>
        <Button
          kind="primary"
          busy={progress !== null}
          aria-disabled={query === null}
          onClick={query === null ? undefined : () => start({ ...query, ...formatOf(format) })}
        >
          {t('report_download')}
        </Button>
        {progress === null ? null : (
          <>
            <span role="status">{t('report_rows', { rows: number(progress.rows) })}</span>
            <Button onClick={stop}>{t('report_stop')}</Button>
          </>
        )}
      </div>
    </>
  );
}

function Totals({ preview, isOld }: { readonly preview: ReportPreview; readonly isOld: boolean }) {
  const { t, number, fullDay } = useLocale('reports');
  const { totals, from_day: from, to_day: to } = preview;
  const label = t('report_totals', { from: fullDay(from), to: fullDay(to) });
  if (totals === null) return <Notice>{t('report_too_many')}</Notice>;
  if (totals.length === 0) return <Notice>{t('report_nothing', { period: label })}</Notice>;
  const counted = (of: 'rows' | 'unknown'): number => totals.reduce((sum, one) => sum + one[of], 0);
  const sumRows =
    totals.length === 1
      ? []
      : [
          {
            name: t('report_sum'),
            className: css.sum,
            cells: [
              number(counted('rows')),
              '–',
              <Worth
                key="value"
                amount={sumOf(totals.map(({ value }) => value))}
                currency={preview.currency}
                unknown={counted('unknown')}
                count={counted('rows')}
              />,
            ],
          },
        ];
  return (
    <ReportTable
      title={label}
      isOld={isOld}
      heads={[
        t('report_coin'),
        t('report_count'),
        t('report_amount'),
        t('report_value', { currency: preview.currency }),
      ]}
      rows={[
        ...totals.map((one) => ({
          name: nameOf(one, t),
          cells: [
            number(one.rows),
            one.coin === null ? '–' : <Coin key="amount" amount={one.amount} asset="" />,
            <Worth key="value" amount={one.value} currency={preview.currency} unknown={one.unknown} count={one.rows} />,
          ],
        })),
        ...sumRows,
      ]}
    />
  );
}

type Total = NonNullable<ReportPreview['totals']>[number];

function nameOf({ kind, coin, network }: Total, t: Locale<'reports'>['t']): string {
  const token = coin === null || network === null ? t('report_no_coin') : `${coin} · ${networkName(network)}`;
  return kind === null ? token : `${t(`report_booked_${kind}`)} ${token}`;
}

/** Adds up values of one currency, which have the same decimals. */
function sumOf(values: readonly string[]): string {
  const decimals = decimalsOf(values[0] ?? '0');
  return formatUnits(
    values.reduce((sum, value) => sum + unitsOf(value, decimals), 0n),
    decimals,
  );
}
