import type { NetworkHealthView, NetworkView } from '../../../../src/http/dashboard/wallets/contract.ts';
import { useLocale } from '../../locale.tsx';
import { Card } from '../../ui/card.tsx';
import { Ago, Facts, Short } from '../../ui/value.tsx';
import { classNames } from '../../ui/class-names.ts';
import { Notice } from '../../ui/notice.tsx';
import css from './wallets.module.css';

/** The last reported state of following the networks. No node is asked. */
export function NetworksCard({ networks }: { readonly networks: readonly NetworkView[] }) {
  const { t } = useLocale('wallets');
  const followed = networks.flatMap(({ label, setting, health }) =>
    health === null ? [] : [{ label, setting, health }],
  );
  return (
    <Card title={t('networks_title')}>
      {followed.length === 0 ? (
        <p className={css.sentence}>{t('wallets_no_node')}</p>
      ) : (
        <ul className={css.networks} aria-label={t('networks_title')}>
          {followed.map(({ label, setting, health }) => (
            <li key={label}>
              <h3>
                {label}{' '}
                <span className={classNames(css.state, health.problem !== null && css.ill)}>
                  {t(health.problem === null ? 'network_fine' : 'network_problem')}
                </span>
              </h3>
              {health.problem === null ? null : (
                <Notice kind="warning">
                  <Problem health={health} setting={setting} />
                </Notice>
              )}
              <Following health={health} />
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

interface ProblemProps {
  readonly health: NetworkHealthView;
  /** The setting that names the network's nodes. */
  readonly setting: string;
}

/** The problem in the person's language; messages of single nodes are beside it. */
function Problem({ health, setting }: ProblemProps) {
  const { t, number, duration } = useLocale('wallets');
  const { problem, problem_kind: kind, lag_blocks: blocks, lag_seconds: seconds } = health;
  switch (kind) {
    case 'not_followed':
    case 'unread':
      return t(`network_${kind}`);
    case 'no_answer':
      return t('network_no_answer', { setting });
    case 'behind':
      return t('network_behind', { blocks: number(blocks ?? 0) });
    case 'stalled':
      return t('network_stalled', { time: duration((seconds ?? 0) * 1_000) });
    case 'unhealthy':
      return t('network_unhealthy');
    case 'halted':
    case null:
      return problem;
  }
}

function Following({ health }: { readonly health: NetworkHealthView }) {
  const { t, number, duration } = useLocale('wallets');
  const { height, lag_blocks: lag, lag_seconds: seconds, cursor, nodes } = health;
  return (
    <>
      <Facts
        className={css.facts}
        areApart
        facts={[
          [t('network_height'), height === null ? t('not_known') : number(height)],
          [
            t('network_cursor'),
            cursor === null ? (
              t('network_not_read')
            ) : (
              <>
                {number(cursor.height)} <Short text={cursor.hash} what={t('block_hash')} />
              </>
            ),
          ],
          [t('network_last_block'), cursor === null ? t('not_known') : <Ago iso={cursor.block_at} />],
          [
            t('network_lag'),
            lag === null
              ? t('not_known')
              : t('lag_of', { blocks: number(lag), time: duration((seconds ?? 0) * 1_000) }),
          ],
        ]}
      />
      <ul className={css.nodes}>
        {nodes.map((one) => (
          <li key={one.node}>
            <code>{one.node}</code>
            <small>
              {one.height === null ? null : `${t('node_block', { height: number(one.height) })} · `}
              {one.problem ?? t('node_fine')} · <Ago iso={one.checked_at} />
            </small>
          </li>
        ))}
      </ul>
    </>
  );
}
