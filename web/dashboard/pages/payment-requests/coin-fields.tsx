import { useQuery } from '@tanstack/react-query';
import { useId } from 'react';
import type { AnswerOf } from '../../../../src/http/dashboard/contract.ts';
import { reads } from '../../api.ts';
import { networkName } from '../../formats.ts';
import { useLocale } from '../../locale.tsx';
import { problemOf } from '../../problem.ts';
import { useScope } from '../../scope.ts';
import { Checks, Choices } from '../../ui/choices.tsx';
import { Below } from '../../ui/field.tsx';

const TOKENS = 'GET /dashboard/api/projects/:project/:mode/tokens';
/** The coins that the project offers, and the usual values of a form. */
export type Offer = AnswerOf<typeof TOKENS>;

export function useOffer() {
  return useQuery(reads(['tokens'], TOKENS, { params: useScope() }));
}

interface CoinFieldsProps {
  /** Null: all that the project offers. */
  readonly coins: readonly string[] | null;
  readonly offer: Pick<Offer, 'data'>;
  readonly fault: unknown;
  readonly onCoins: (coins: readonly string[] | null) => void;
}

/** The coins that payers choose from: all, or those that are ticked. */
export function CoinFields({ coins, offer, fault, onCoins }: CoinFieldsProps) {
  const { t } = useLocale('payment-requests');
  const id = useId();
  return (
    <>
      <Choices
        label={t('ask_coins')}
        value={coins === null ? 'all' : 'some'}
        options={[
          { value: 'all', text: t('ask_all_coins') },
          { value: 'some', text: t('ask_some_coins') },
        ]}
        onValue={(value) => onCoins(value === 'all' ? null : [])}
      />
      {coins === null ? null : (
        <div>
          <Checks
            label={t('ask_which_coins')}
            chosen={coins}
            options={offer.data.map(({ asset, network }) => ({
              value: `${asset}/${network}`,
              text: `${asset} · ${networkName(network)}`,
            }))}
            onChosen={onCoins}
          />
          <Below id={id} hint={undefined} problem={problemOf(fault, 'coins')} />
        </div>
      )}
    </>
  );
}
