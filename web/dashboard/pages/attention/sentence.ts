import type { AttentionView } from '../../../../src/http/dashboard/attention/contract.ts';
import type { Locale } from '../../locale.tsx';
import { networkName } from '../../formats.ts';

/** The title of an item, and its event in one sentence. */
export function describe(
  item: AttentionView,
  locale: Locale<'attention'>,
): { readonly title: string; readonly text: string } {
  const { t, fiat, coin, dateTime } = locale;
  const { kind, payment, network, url } = item;
  const amount = item.amount === null ? '' : coin(item.amount, item.asset ?? '');
  const detail = item.detail ?? t('no_answer');
  const shownUrl = url === null ? null : url.replace(/^https?:\/\//, '').replace(/\/$/, '');
  const name = shownUrl ?? (payment === null ? networkName(network ?? '') : (payment.name ?? payment.id));
  const title = t(`kind_${kind}`, { name: kind === 'key_beyond_role' ? detail : name });
  switch (kind) {
    case 'underpaid': {
      const { until } = item;
      if (until === null) return { title, text: t('kind_underpaid_failed_text', { amount }) };
      return { title, text: t('kind_underpaid_text', { amount, until: dateTime(until) }) };
    }
    case 'till_money_gone':
    case 'overpaid':
    case 'paid_late':
    case 'paid_after_cancel':
    case 'slow':
    case 'refund_paid_twice':
    case 'refund_paid_anyway':
    case 'refund_to_sign':
      return { title, text: t(`kind_${kind}_text`, { amount }) };
    case 'reorged':
      return { title, text: t('kind_reorged_text') };
    case 'endpoint_disabled':
    case 'endpoint_failing':
      return { title, text: t(`kind_${kind}_text`, { detail }) };
    case 'node_behind': {
      const problem = item.problem_kind;
      const isNamed = problem !== null && problem !== 'halted';
      return { title, text: t('kind_node_behind_text', { detail: isNamed ? t(`node_${problem}`) : detail }) };
    }
    case 'wallet_changed': {
      const { by, before, after } = item.change ?? { by: { kind: 'service', name: '' }, before: null, after: '' };
      const who = by.kind === 'command' ? t('by_command_line', { name: by.name }) : by.name;
      return before === null
        ? { title: t('kind_wallet_changed_first', { name }), text: t('kind_wallet_changed_first_text', { who, after }) }
        : { title, text: t('kind_wallet_changed_text', { who, before, after }) };
    }
    case 'key_beyond_role':
      return { title, text: t('kind_key_beyond_role_text', { who: item.change?.by.name ?? '' }) };
    case 'no_wallet':
      return { title, text: t('kind_no_wallet_text', { name }) };
    case 'sweep': {
      if (item.usd === null) return { title, text: t('kind_sweep_text', { detail }) };
      return { title, text: t('kind_sweep_worth_text', { detail, amount: fiat(item.usd, 'USD') }) };
    }
  }
}
