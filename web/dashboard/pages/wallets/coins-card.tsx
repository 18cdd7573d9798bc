import { useState } from 'react';
import type { CoinView, WalletsView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Button, IconButton } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { Form } from '../../ui/form.tsx';
import { Problem } from '../../ui/notice.tsx';
import { networkName } from '../../formats.ts';
import css from './wallets.module.css';
import { useWalletsChange } from './term-fields.tsx';
import { useScope } from '../../scope.ts';

interface CoinsCardProps {
  readonly wallets: WalletsView;
  readonly mayManage: boolean;
}

/** An edit, with the version that it began from. */
interface Draft {
  readonly version: string;
  /** Null: the default order. */
  readonly coins: readonly CoinView[] | null;
}

/** The coins that customers are offered, and their order. */
export function CoinsCard({ wallets, mayManage }: CoinsCardProps) {
  const { t } = useLocale('wallets');
  const { project } = useScope();
  const [draft, edit] = useState<Draft | null>(null);
  const version = draft?.version ?? wallets.version;
  const save = useWalletsChange({
    send: (api, coins: Draft['coins']) =>
      api('POST /dashboard/api/projects/:project/payment-terms', {
        params: { project },
        body: { coins: coins === null ? null : coins.map((one) => ({ ...one })), version },
      }),
    of: (after) => after,
    done: t('coins_saved'),
    onDone: () => edit(null),
  });
  const coins = draft?.coins ?? wallets.coins;
  const change = (next: readonly CoinView[]): void => edit({ version, coins: next });
  const discard = (): void => {
    edit(null);
    save.reset();
  };
  return (
    <Card title={t('coins_title')}>
      <Form isDirty={draft !== null} onSubmit={() => save.mutate(coins)}>
        <p className={css.sentence}>{t(coins.length === 0 ? 'coins_none' : 'coins_text')}</p>
        {coins.length === 0 ? null : <CoinList coins={coins} isLocked={!mayManage} onCoins={change} />}
        <Problem error={save.error} />
        {!mayManage || (draft === null && !wallets.has_own_order) ? null : (
          <div className={css.buttons}>
            {draft === null ? (
              <Button busy={save.isPending} onClick={() => save.mutate(null)}>
                {t('coins_usual')}
              </Button>
            ) : (
              <>
                <Button onClick={discard}>{t('coins_discard')}</Button>
                <Button kind="primary" type="submit" busy={save.isPending}>
                  {t('coins_save')}
                </Button>
              </>
            )}
          </div>
        )}
      </Form>
    </Card>
  );
}

interface CoinListProps {
  readonly coins: readonly CoinView[];
  readonly isLocked: boolean;
  readonly onCoins: (coins: readonly CoinView[]) => void;
}

function CoinList({ coins, isLocked, onCoins }: CoinListProps) {
  const { t } = useLocale('wallets');
  const move = (from: number, to: number): void => {
    const moved = coins.filter((_one, at) => at !== from);
    const one = coins[from];
    if (one !== undefined) onCoins([...moved.slice(0, to), one, ...moved.slice(to)]);
  };
  return (
    <ol className={css.coins} aria-label={t('coins_title')}>
      {coins.map(({ coin, is_on: isOn }, at) => {
        const [asset = '', network = ''] = coin.split('/');
        const name = `${asset} · ${networkName(network)}`;
        return (
          <li key={coin}>
            <label>
              <input
                type="checkbox"
                checked={isOn}
                disabled={isLocked}
                onChange={() => onCoins(coins.map((one) => (one.coin === coin ? { coin, is_on: !isOn } : one)))}
              />
              {name}
            </label>
            {isLocked ? null : (
              <span>
                <IconButton
                  small
                  icon="arrow-up"
                  label={t('coin_up', { coin: name })}
                  aria-disabled={at === 0}
                  onClick={() => (at === 0 ? undefined : move(at, at - 1))}
                />
                <IconButton
                  small
                  icon="arrow-down"
                  label={t('coin_down', { coin: name })}
                  aria-disabled={at === coins.length - 1}
                  onClick={() => (at === coins.length - 1 ? undefined : move(at, at + 1))}
                />
              </span>
            )}
          </li>
        );
      })}
    </ol>
  );
}
