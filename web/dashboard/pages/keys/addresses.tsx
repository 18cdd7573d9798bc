import type { AddressView } from '../../../../src/http/dashboard/contract/keys.ts';
import { useLocale } from '../../locale.tsx';
import css from './keys.module.css';

/** Addresses that used keys lately, with those that are refused now named so. */
export function Addresses({ addresses }: { readonly addresses: readonly AddressView[] }) {
  const { t, dateTime } = useLocale('keys');
  return (
    <ul className={css.clients}>
      {addresses.map(({ address, keys, last_seen_at: seen, is_allowed: isAllowed }) => (
        <li key={address}>
          <code>{address}</code>{' '}
          <small>
            {isAllowed ? null : `${t('access_refused')} · `}
            {t('access_used_by', { when: dateTime(seen), keys: keys.join(', ') })}
          </small>
        </li>
      ))}
    </ul>
  );
}
