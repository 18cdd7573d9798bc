import { useQuery } from '@tanstack/react-query';
import type { NetworkView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { reads } from '../../api.ts';
import { useLocale } from '../../locale.tsx';
import { Dialog, DialogActions } from '../../ui/dialog.tsx';
import { Notice } from '../../ui/notice.tsx';
import { NotLoaded } from '../../ui/placeholder.tsx';
import css from './wallets.module.css';
import { useScope } from '../../scope.ts';

interface CheckDialogProps {
  readonly network: NetworkView;
  readonly onClose: () => void;
}

/** The addresses of coming payments, and the present answers of the network's nodes. */
export function CheckDialog({ network, onClose }: CheckDialogProps) {
  const { t } = useLocale('wallets');
  const { project } = useScope();
  const params = { project, network: network.network };
  const check = useQuery({
    ...reads(['wallets', project], 'POST /dashboard/api/projects/:project/wallets/:network/check', { params }),
    gcTime: 0,
    retry: false,
  });
  const { data } = check;
  return (
    <Dialog
      title={t('wallet_check_of', { network: network.label })}
      description={t('wallet_check_text')}
      wide
      onClose={onClose}
    >
      {data === undefined ? (
        <NotLoaded query={check} rows={5} />
      ) : (
        <div className={css.fields}>
          {data.addresses === null ? (
            <Notice kind="problem">{network.wallet?.problem ?? t('wallet_unreadable')}</Notice>
          ) : (
            <>
              <p className={css.sentence}>
                {t(`compare_text_${data.kind}`)} {t('wallet_next', { number: data.next_index })}.
              </p>
              <Addresses treasury={data.kind === 'treasury' ? data.source : null} addresses={data.addresses} />
            </>
          )}
          <h3>{t('nodes_now')}</h3>
          {data.fault === null ? null : <Notice kind="problem">{data.fault}</Notice>}
          {data.nodes === null ? <p className={css.sentence}>{t('nodes_none', { setting: network.setting })}</p> : null}
          {data.nodes === null || data.nodes.length === 0 ? null : (
            <ul aria-label={t('nodes_now')}>
              {data.nodes.map(({ node, height, problem }) => (
                <li key={node}>
                  <code>{node}</code> {height === null ? null : <small>{t('node_block', { height })} · </small>}
                  <small>{problem ?? t('node_fine')}</small>
                </li>
              ))}
            </ul>
          )}
          <DialogActions confirm={t('wallet_done')} onConfirm={onClose} />
        </div>
      )}
    </Dialog>
  );
}

interface AddressesProps {
  /** The wallet's own address, if that is compared too. */
  readonly treasury: string | null;
  readonly addresses: readonly { readonly address: string; readonly is_used?: boolean }[];
}

/** Addresses of a wallet from number 0 on, to compare with the wallet itself. */
export function Addresses({ treasury, addresses }: AddressesProps) {
  const { t } = useLocale('wallets');
  const list = (
    <ol start={0} className={css.addresses} aria-label={t('first_addresses')}>
      {addresses.map(({ address, is_used: isUsed = false }) => (
        <li key={address}>
          <code>{address}</code>
          {isUsed ? <small> {t('address_used')}</small> : null}
        </li>
      ))}
    </ol>
  );
  if (treasury === null) return list;
  return (
    <>
      <p className={css.treasury}>
        <b>{t('wallet_kind_treasury')}</b> <code>{treasury}</code>
      </p>
      <details className={css.more}>
        <summary>{t('show_deposits')}</summary>
        {list}
      </details>
    </>
  );
}
