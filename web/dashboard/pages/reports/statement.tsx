import { Fragment } from 'react';
import type { StatementRecord } from '../../../../src/http/dashboard/reports/contract.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { useSignedIn } from '../../session.ts';
import { Notice } from '../../ui/notice.tsx';
import { networkName } from '../../formats.ts';
import { Coin } from '../../ui/value.tsx';
import css from './reports.module.css';
import { ReportTable, Worth } from './parts.tsx';
import { useScope } from '../../scope.ts';

type Token = StatementRecord['tokens'][number];
type Texts = Locale<'reports'>;

const KINDS = { balanced: 'good', explained: 'warning', unexplained: 'problem' } as const;

/** The statement of a period, which prints on paper of any size. */
export function Statement({ statement }: { readonly statement: StatementRecord }) {
  const locale = useLocale('reports');
  const { t, fullDay, dateTime, zone } = locale;
  const scope = useScope();
  const name = useSignedIn().projects.find(({ id }) => id === scope.project)?.name ?? '';
  return (
    <article className={css.paper} aria-labelledby="statement">
      <header>
        <h2 id="statement">{t('statement_title', { project: name })}</h2>
        <p>
          {t('statement_period', {
            from: fullDay(statement.from_day),
            to: fullDay(statement.to_day),
            zone: statement.zone.replaceAll('_', ' '),
          })}
        </p>
        <p className={css.note}>{t('statement_made', { time: dateTime(statement.made_at), zone })}</p>
        {scope.mode === 'test' ? <p className={css.test}>{t('statement_test')}</p> : null}
      </header>
      <Notice kind={KINDS[statement.verdict]}>{t(`statement_${statement.verdict}`)}</Notice>
      {statement.tokens.length === 0 ? <p>{t('statement_empty')}</p> : null}
      {statement.tokens.map((token) => (
        <TokenTable
          key={`${token.coin} ${token.network}`}
          token={token}
          currency={statement.currency}
          locale={locale}
        />
      ))}
      <Fiat statement={statement} locale={locale} />
      <Differences statement={statement} locale={locale} />
      <p className={css.note}>{t('statement_notes')}</p>
    </article>
  );
}

interface Row {
  readonly text: string;
  /** Null: not checked. */
  readonly amount: string | null;
  readonly value?: { readonly amount: string; readonly unknown: number };
  readonly count?: number;
  readonly kind?: 'sum' | 'part';
}

/** An amount that went out, with a minus. */
function negative(amount: string): string {
  return Number(amount) === 0 ? amount : `-${amount}`;
}

function rowsOf(token: Token, { t, number }: Texts): readonly Row[] {
  const parts = ['applied', 'excess', 'open', 'underpaid', 'late', 'superseded', 'unquoted'] as const;
  const count = (of: number): string => number(of);
  const beside: readonly Row[] = token.lost === '0' ? [] : [{ text: t('statement_lost'), amount: token.lost }];
  const { deposits } = token;
  return [
    { text: t('statement_opening'), amount: token.opening, kind: 'sum' },
    {
      text: t('statement_received', { count: count(token.transfers) }),
      amount: token.received,
      value: token.value_at_receipt,
      count: token.transfers,
    },
    ...parts
      .filter((part) => token[part] !== '0' || part === 'applied')
      .map((part): Row => ({ text: t(`statement_part_${part}`), amount: token[part], kind: 'part' })),
    ...beside,
    {
      text: t('statement_refunded', { count: count(token.refunds) }),
      amount: negative(token.refunded),
      value: { ...token.value_at_disposal, amount: negative(token.value_at_disposal.amount) },
      count: token.refunds,
    },
    { text: t('statement_closing'), amount: token.closing, kind: 'sum' },
    ...(token.refunds_pending === '0' ? [] : [{ text: t('statement_pending'), amount: token.refunds_pending }]),
    ...(token.unconfirmed === '0' ? [] : [{ text: t('statement_unconfirmed'), amount: token.unconfirmed }]),
    ...(token.swept === '0'
      ? []
      : [{ text: t('statement_swept'), amount: token.swept, value: token.value_swept, count: token.sweeps }]),
    ...(deposits === null
      ? []
      : [
          { text: t('statement_deposits_received'), amount: deposits.received },
          { text: t('statement_deposits_swept'), amount: deposits.swept, kind: 'part' as const },
          {
            text: t('statement_deposits_there'),
            amount: deposits.there,
            kind: 'part' as const,
          },
          ...(deposits.since === '0'
            ? []
            : [{ text: t('statement_deposits_since'), amount: deposits.since, kind: 'part' as const }]),
        ]),
  ];
}

function TokenTable({
  token,
  currency,
  locale,
}: {
  readonly token: Token;
  readonly currency: string;
  readonly locale: Texts;
}) {
  const { t } = locale;
  return (
    <ReportTable
      title={`${token.coin} · ${networkName(token.network)}`}
      heads={[<LineHead key="line" />, token.coin, t('report_value', { currency })]}
      rows={rowsOf(token, locale).map(({ text, amount, value, count = 0, kind }) => ({
        name: text,
        className: kind === undefined ? undefined : css[kind],
        cells: [
          amount === null ? t('statement_not_checked') : <Coin key="amount" amount={amount} asset="" />,
          value === undefined || count === 0 ? null : (
            <Worth key="worth" {...value} currency={currency} count={count} />
          ),
        ],
      }))}
    />
  );
}

function LineHead() {
  const { t } = useLocale('reports');
  return <span className="unseen">{t('statement_line')}</span>;
}

function Fiat({ statement, locale }: { readonly statement: StatementRecord; readonly locale: Texts }) {
  const { t, number } = locale;
  const { receipts, refunds, fees } = statement;
  if (receipts.length + refunds.length + fees.length === 0) return null;
  const kinds = [
    [t('statement_fiat_receipts'), receipts],
    [t('statement_fiat_refunds'), refunds.map((one) => ({ ...one, amount: negative(one.amount) }))],
  ] as const;
  return (
    <ReportTable
      title={t('statement_fiat')}
      heads={[<LineHead key="line" />, t('report_count'), t('statement_value_then')]}
      rows={[
        ...kinds.flatMap(([text, rows]) =>
          rows.map((one) => ({
            name: `${text} ${one.currency}`,
            cells: [number(one.count), <Worth key="worth" {...one} />],
          })),
        ),
        ...fees.map((one) => ({
          name: t('statement_fees', { network: networkName(one.network) }),
          cells: [
            number(one.sweeps),
            <Fragment key="worth">
              <Coin amount={one.amount} asset={one.coin ?? ''} />
              {' · '}
              <Worth amount={one.value} currency={statement.currency} count={one.sweeps} unknown={one.unknown} />
            </Fragment>,
          ],
        })),
      ]}
    />
  );
}

function Differences({ statement, locale }: { readonly statement: StatementRecord; readonly locale: Texts }) {
  const { t, number } = locale;
  const { differences, over_refunds: over, repeated_refunds: repeated, deposit_differences: deposits } = statement;
  const count = differences.count + over.count + repeated.count + deposits.count;
  if (count === 0) return null;
  // Every digit, because a difference may be in the last one.
  const exact = new Intl.NumberFormat(locale.intl, { maximumFractionDigits: 18 });
  const bare = (amount: string): string => exact.format(amount as `${number}`);
  const lines = [
    ...differences.rows.map((row) => ({
      key: `sum ${row.payment}`,
      text: t('statement_difference', { ...row, transfers: bare(row.transfers), sum: bare(row.payment_sum) }),
    })),
    ...over.rows.map((row) => ({
      key: `refund ${row.payment} ${row.coin}`,
      text: t('statement_over_refund', { ...row, refunded: bare(row.refunded), received: bare(row.received) }),
    })),
    ...repeated.rows.map((row) => ({
      key: row.refund,
      text: t('statement_repeated_refund', { ...row, times: number(row.times), amount: bare(row.amount) }),
    })),
    ...deposits.rows.map((row) => {
      const { address, received, swept, there, from_contracts: more } = row;
      const sums = { address, coin: row.coin, received: bare(received), swept: bare(swept), there: bare(there) };
      return {
        key: `deposit ${address} ${row.coin}`,
        text: [
          more === null
            ? t('statement_deposit_difference', sums)
            : t('statement_deposit_explained', { ...sums, more: bare(more) }),
          ...(row.is_unclear ? [t('statement_deposit_unclear')] : []),
        ].join(' '),
      };
    }),
  ];
  return (
    <section>
      <h3>{t('statement_differences', { count: number(count) })}</h3>
      <ul className={css.lines}>
        {lines.map(({ key, text }) => (
          <li key={key}>{text}</li>
        ))}
      </ul>
      {count > lines.length ? <p className={css.note}>{t('statement_more', { shown: number(lines.length) })}</p> : null}
    </section>
  );
}
