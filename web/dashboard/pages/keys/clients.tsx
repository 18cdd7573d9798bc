import type { KeyView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Ago } from '../../ui/moment.tsx';
import css from './keys.module.css';

/** Where a key was used from lately. */
export function Clients({ clients }: { readonly clients: KeyView['clients'] }) {
  const { t, number, dateTime } = useLocale('keys');
  return (
    <ul className={css.clients} aria-label={t('used_from')}>
      {clients.map((one) => (
        <li key={one.client ?? ''}>
          <code>{one.client ?? t('used_from_others')}</code>
          <small>
            <Ago iso={one.last_seen_at} /> · {t('requests_count', { count: number(one.requests) })}
            {one.user_agent === null ? null : ` · ${one.user_agent}`}
            {one.last_refused_at === null ? null : ` · ${t('used_refused', { when: dateTime(one.last_refused_at) })}`}
          </small>
        </li>
      ))}
    </ul>
  );
}
