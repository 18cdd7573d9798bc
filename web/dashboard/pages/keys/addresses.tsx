import type { AddressView } from '../../../../src/http/dashboard/keys/contract.ts';
import { useLocale } from '../../locale.tsx';
import css from './keys.module.css';

interface AddressesProps {
  readonly addresses: readonly AddressView[];
  /** Whether they are refused by the list as it is. */
  readonly areRefused: boolean;
}

/** Addresses that used keys lately. */
export function Addresses({ addresses, areRefused }: AddressesProps) {
  const { t, dateTime } = useLocale('keys');
  return (
    <ul className={css.clients}>
      {addresses.map(({ address, keys, last_seen_at: seen }) => (
        <li key={address}>
          <code>{address}</code>{' '}
          <small>
            {areRefused ? `${t('access_refused')} · ` : null}
            {t('access_used_by', { when: dateTime(seen), keys: keys.join(', ') })}
          </small>
        </li>
      ))}
    </ul>
  );
}
