import { useState } from 'react';
import type { NetworkView, WalletView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale, type Locale } from '../../locale.tsx';
import { Button } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Short, Moment } from '../../ui/value.tsx';
import { Notice } from '../../ui/notice.tsx';
import rows from '../../ui/row.module.css';
import { CheckDialog } from './check-dialog.tsx';
import { SetWalletDialog } from './set-wallet-dialog.tsx';
import css from './wallets.module.css';
import { FormDialog } from '../../ui/action-dialog.tsx';
import { TermFields, termsOf, useTerms, useWalletsChange } from './term-fields.tsx';
import { useScope } from '../../scope.ts';

interface Act {
  readonly kind: 'set' | 'terms' | 'check';
  readonly network: NetworkView;
}

interface WalletsCardProps {
  readonly networks: readonly NetworkView[];
  readonly mayManage: boolean;
}

/** The wallet of each network. Networks that the service does not follow come last, unless they have a wallet. */
export function WalletsCard({ networks, mayManage }: WalletsCardProps) {
  const { t } = useLocale('wallets');
  const [act, setAct] = useState<Act | null>(null);
  const shown = networks.filter(({ wallet, health }) => wallet !== null || health !== null);
  const others = networks.filter((one) => !shown.includes(one));
  const row = (network: NetworkView) => (
    <WalletRow key={network.network} network={network} mayManage={mayManage} onAct={setAct} />
  );
  const close = (): void => setAct(null);
  return (
    <Card title={t('wallets_set')}>
      <div>
        <p className={css.intro}>{t('wallets_intro')}</p>
        {shown.length === 0 ? <p>{t('wallets_no_node')}</p> : <ul aria-label={t('wallets_set')}>{shown.map(row)}</ul>}
        <details className={css.others} hidden={others.length === 0}>
          <summary>{t('wallets_others', { count: others.length })}</summary>
          <ul aria-label={t('wallets_others', { count: others.length })}>{others.map(row)}</ul>
        </details>
      </div>
      {act?.kind === 'set' ? <SetWalletDialog network={act.network} onClose={close} /> : null}
      {act?.kind === 'terms' && act.network.wallet !== null ? (
        <TermsDialog network={act.network} wallet={act.network.wallet} onClose={close} />
      ) : null}
      {act?.kind === 'check' ? <CheckDialog network={act.network} onClose={close} /> : null}
    </Card>
  );
}

interface WalletRowProps {
  readonly network: NetworkView;
  readonly mayManage: boolean;
  readonly onAct: (act: Act) => void;
}

function WalletRow({ network, mayManage, onAct }: WalletRowProps) {
  const { t } = useLocale('wallets');
  const { label, wallet, health, setting } = network;
  const needsNode = wallet !== null && health === null ? t('wallet_needs_node', { setting }) : null;
  const warnings = [needsNode, wallet?.problem, wallet?.warning].filter((one) => typeof one === 'string');
  const named = (act: string): string => t('wallet_act_of', { act, network: label });
  return (
    <li className={rows.row}>
      <div>
        <b>{label}</b>
        {wallet === null || wallet.address_kind === null ? null : (
          <span className={rows.badge}>{t(`address_kind_${wallet.address_kind}`)}</span>
        )}
        {wallet === null ? (
          <small>{health === null ? t('wallet_needs_node', { setting }) : t('wallet_missing')}</small>
        ) : (
          <WalletFacts wallet={wallet} />
        )}
      </div>
      <span className={rows.buttons}>
        {wallet === null ? null : (
          <Button small aria-label={named(t('wallet_check'))} onClick={() => onAct({ kind: 'check', network })}>
            {t('wallet_check')}
          </Button>
        )}
        {wallet === null || !mayManage ? null : (
          <Button small aria-label={named(t('wallet_terms'))} onClick={() => onAct({ kind: 'terms', network })}>
            {t('wallet_terms')}
          </Button>
        )}
        {mayManage ? (
          <Button small aria-label={named(t('set_wallet'))} onClick={() => onAct({ kind: 'set', network })}>
            {t('set_wallet')}
          </Button>
        ) : null}
      </span>
      {warnings.map((warning) => (
        <div key={warning} className={css.below}>
          <Notice kind="warning">{warning}</Notice>
        </div>
      ))}
    </li>
  );
}

function WalletFacts({ wallet }: { readonly wallet: WalletView }) {
  const locale = useLocale('wallets');
  const { t } = locale;
  return (
    <>
      <small>
        {t(`wallet_kind_${wallet.kind}`)} <Short text={wallet.source} what={t(`wallet_kind_${wallet.kind}`)} />
      </small>
      <small>
        {t('wallet_next', { number: wallet.next_index })} · {t('wallet_since')} <Moment iso={wallet.set_at} />
      </small>
      <small>
        {t('wallet_confirmations')}: {confirmationsOf(wallet, locale)}
      </small>
      <small>
        {t('wallet_tolerance')}: {t('in_percent', { percent: locale.number(Number(wallet.tolerance)) })}
      </small>
    </>
  );
}

/** Confirmations such as “2 below $1,000, 6 below $100,000, else 12”. */
export function confirmationsOf({ tiers }: Pick<WalletView, 'tiers'>, { t, fiat }: Locale<'wallets'>): string {
  const alone = tiers.length === 1;
  return tiers
    .map(({ below_usd: below, confirmations: number }) =>
      below === null
        ? alone
          ? String(number)
          : t('confirmations_else', { number })
        : t('confirmations_below', { number, amount: fiat(below, 'USD') }),
    )
    .join(', ');
}

interface TermsDialogProps {
  readonly network: NetworkView;
  readonly wallet: WalletView;
  readonly onClose: () => void;
}

/** Confirmations and tolerance of a wallet's new payments. */
function TermsDialog({ network: given, wallet, onClose }: TermsDialogProps) {
  const { t } = useLocale('wallets');
  const { project } = useScope();
  const [network] = useState(given);
  const terms = useTerms(wallet);
  const save = useWalletsChange({
    send: (api) =>
      api('POST /dashboard/api/projects/:project/wallets/:network/terms', {
        params: { project, network: network.network },
        body: { ...termsOf(terms), version: network.version },
      }),
    of: ({ wallets }) => wallets,
    done: ({ changes }) => changes.join(' '),
    onDone: onClose,
  });
  return (
    <FormDialog
      name={t('wallet_terms')}
      confirm={t('save')}
      text={t('wallet_terms_text', { network: network.label })}
      isDirty={terms.isDirty}
      action={save}
      fields={['confirmations', 'tolerance']}
      onClose={onClose}
    >
      <TermFields terms={terms} fault={save.error} />
    </FormDialog>
  );
}
