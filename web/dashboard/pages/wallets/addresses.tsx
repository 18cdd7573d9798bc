import { useLocale } from '../../locale.tsx';
import css from './wallets.module.css';

interface AddressesProps {
  readonly addresses: readonly { readonly address: string; readonly is_used?: boolean }[];
}

/** Addresses of a wallet from number 0 on, to be compared with what the wallet itself shows. */
export function Addresses({ addresses }: AddressesProps) {
  const { t } = useLocale('wallets');
  return (
    <ol start={0} className={css.addresses} aria-label={t('first_addresses')}>
      {addresses.map(({ address, is_used: isUsed = false }) => (
        <li key={address}>
          <code>{address}</code>
          {isUsed ? <small> {t('address_used')}</small> : null}
        </li>
      ))}
    </ol>
  );
}
