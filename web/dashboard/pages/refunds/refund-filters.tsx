import { useQuery } from '@tanstack/react-query';
import { REFUND_STAGES } from '../../../../src/domain/refund-stage.ts';
import { useDashboard } from '../../dashboard.ts';
import { useLocale } from '../../locale.tsx';
import { LinkButton } from '../../ui/button.tsx';
import { SearchField } from '../../ui/field.tsx';
import { asOptions, FilterSelects, PeriodSelect } from '../log/filter-select.tsx';
import type { LogChange } from '../log/use-log.ts';
import { filterWordsQuery } from '../payments/list-queries.ts';
import css from '../payments/payments-page.module.css';
import type { RefundsSearch } from './queries.ts';
import { useStageText } from './refund-panel.tsx';

interface RefundFilterRowProps {
  readonly search: RefundsSearch;
  readonly isNarrowed: boolean;
  readonly onChange: (change: LogChange) => void;
}

const NO_FILTERS = {
  stage: undefined,
  coin: undefined,
  network: undefined,
  period: undefined,
  search: undefined,
} as const satisfies LogChange;

/** The filters of the refunds, which are in the URL. */
export function RefundFilterRow({ search, isNarrowed, onChange }: RefundFilterRowProps) {
  const { t } = useLocale('refunds', 'list', 'detail');
  const { api } = useDashboard();
  const textOf = useStageText();
  const { search: typed = '', period } = search;
  const { coins = [], networks = [] } = useQuery(filterWordsQuery(api)).data ?? {};
  return (
    <div className={css.filters} role="search">
      <SearchField label={t('refund_search')} text={typed} onText={(text) => onChange({ search: text })} />
      <FilterSelects
        search={search}
        onChange={onChange}
        rows={[
          ['stage', t('status'), t('refund_any_stage'), REFUND_STAGES.map((one) => [one, textOf(one)] as const)],
          ['coin', t('choose_coin'), t('refund_any_coin'), asOptions(coins)],
          ['network', t('network'), t('refund_any_network'), networks.map(({ name, label }) => [name, label] as const)],
        ]}
      />
      <PeriodSelect period={period} onPeriod={(value) => onChange({ period: value })} />
      {isNarrowed ? <LinkButton onClick={() => onChange(NO_FILTERS)}>{t('clear_filters')}</LinkButton> : null}
    </div>
  );
}
