import { useLocale } from '../../locale.tsx';
import css from './wallets.module.css';

interface AddressesProps {
  /** The wallet itself, where it is compared too. */
  readonly treasury: string | null;
  readonly addresses: readonly { readonly address: string; readonly is_used?: boolean }[];
}

/** Addresses of a wallet from number 0 on, to be compared with what the wallet itself shows. */
export function Addresses({ treasury, addresses }: AddressesProps) {
  const { t } = useLocale('wallets');
  return (
    <>
      {treasury === null ? null : (
        <p className={css.treasury}>
          <b>{t('wallet_kind_treasury')}</b> <code>{treasury}</code>
        </p>
      )}
      <ol start={0} className={css.addresses} aria-label={t('first_addresses')}>
        {addresses.map(({ address, is_used: isUsed = false }) => (
          <li key={address}>
            <code>{address}</code>
            {isUsed ? <small> {t('address_used')}</small> : null}
          </li>
        ))}
      </ol>
    </>
  );
}
