import { useQuery } from '@tanstack/react-query';
import { useDashboard } from '../dashboard.ts';
import { useLocale } from '../locale.tsx';
import { attentionCountQuery } from '../pages/attention/queries.ts';
import type { Scope } from '../scope.ts';
import css from './rail.module.css';

/** The server counts no further. */
const MAX_COUNT = 100;

/** How much needs attention, beside the page's name; nothing where nothing does. */
export function AttentionBadge({ scope }: { readonly scope: Scope }) {
  const { t } = useLocale();
  const { api } = useDashboard();
  const { data } = useQuery(attentionCountQuery(api, scope));
  if (data === undefined || data.count === 0) return null;
  const shown = data.count >= MAX_COUNT ? `${MAX_COUNT - 1}+` : String(data.count);
  return (
    // A picture of the number, so that the link keeps its name; its description says it.
    <span className={css.badge} data-count={shown} title={t('attention_count', { count: shown })} aria-hidden="true" />
  );
}
