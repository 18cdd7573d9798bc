import { Type, type Static, type TSchema } from 'typebox';
import { ASSET_CODES } from '../domain/asset-code.ts';
import { amountRange } from '../domain/amount-range.ts';
import { allTokens } from '../domain/asset.ts';
import { coinName } from '../domain/coin-choice.ts';
import { FIATS, isFiat, parseFiatAmount, type Fiat } from '../domain/money.ts';
import type { CommonFields, PaymentApi } from '../domain/payment.ts';
import type { CommonNames } from '../wire/payment.ts';
import { invalid } from './errors.ts';
import { metadata, text } from './fields.ts';
import { pageSentence } from './page-sentences.ts';

/**
 * The fields that merchants set under the same name on both APIs: their schemas in requests, how they are read, and
 * their schemas in answers. A field missing in one of these does not compile; `wire/payment.ts` presents them.
 */
export const commonBody = {
  metadata: Type.Optional(metadata),
} satisfies Readonly<Record<CommonNames, TSchema>>;

const body = Type.Object(commonBody);

export function readCommon(given: Static<typeof body>): CommonFields {
  return {
    metadata: given.metadata ?? {},
  };
}

/** The body that creates a payment. */
export function creationBody<Fields extends Record<string, TSchema>>(
  title: string,
  fields: Fields,
  example: Readonly<Record<string, string | number>>,
) {
  return Type.Object(
    { ...fields, ...commonBody },
    {
      title,
      description: 'Unknown fields are ignored and listed in the X-Ignored-Fields response header.',
      examples: [example],
    },
  );
}

/**
 * The `currency` of a body.
 *
 * @throws RequestError if it is not known
 */
export function readCurrency(code: string): Fiat {
  if (isFiat(code)) return code;
  const capitals = code.trim().toUpperCase();
  throw invalid(
    'currency',
    isFiat(capitals)
      ? `currency must be written in capital letters: ${capitals}.`
      : `currency must be one of ${FIATS.join(', ')}.`,
  );
}

/**
 * An amount of a body, in the currency's smallest unit.
 *
 * @throws RequestError if it is invalid
 */
export function readAmount(amount: number, currency: Fiat, field = 'amount'): bigint {
  const parsed = parseFiatAmount(amount, currency);
  if (parsed.kind === 'ok') return parsed.minor;
  throw invalid(field, `${field} ${parsed.rule}.`, pageSentence('amount_range', field, amountRange(currency)));
}

/** More coins than this exist nowhere. */
const MAX_COINS = 100;
export const COINS = `The coins that the customer can choose from: assets (${ASSET_CODES.slice(0, 3).join(', ')}, …), or assets on a network, such as USDT/polygon. By default all that the project offers.`;
export const coinsField = Type.Optional(
  Type.Array(text({ max: 40, min: 1 }), { minItems: 1, maxItems: MAX_COINS, description: COINS }),
);

/**
 * The `coins` of a body, each once.
 *
 * @throws RequestError for one that does not exist
 */
export function readCoins(coins: readonly string[] | undefined): readonly string[] | null {
  if (coins === undefined) return null;
  const known = new Set<string>([...ASSET_CODES, ...allTokens().map(coinName)]);
  const unknown = coins.find((coin) => !known.has(coin));
  if (unknown === undefined) return [...new Set(coins)];
  throw invalid(
    'coins',
    `coins must name assets (${ASSET_CODES.join(', ')}) or assets on a network (such as USDT/polygon). ${JSON.stringify(unknown)} is neither.`,
  );
}

/** The schemas in answers. */
export function commonShape(api: PaymentApi) {
  return {
    metadata: Type.Optional(
      Type.Record(Type.String(), Type.String(), {
        description: `The metadata given at creation, plus order_id. The value of order_id is the merchant's reference or, if there is none, the ${api}'s id. Left out when a public key is used.`,
      }),
    ),
  } satisfies Readonly<Record<CommonNames, TSchema>>;
}
