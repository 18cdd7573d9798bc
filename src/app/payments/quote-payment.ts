import { ASSET_CODES, type AssetCode } from '../../domain/asset-code.ts';
import {
  isAssetCode,
  quoteUnits,
  tokenOf,
  usdCents,
  usualNetwork,
  type Token,
  type UsdPriceE8,
} from '../../domain/asset.ts';
import { isPayableIn } from '../../domain/coin-choice.ts';
import { formatDecimal, type Fiat } from '../../domain/money.ts';
import { isNetwork, nativeAsset, settingOf, type Network } from '../../domain/networks.ts';
import type { Payment, Quote } from '../../domain/payment.ts';
import type { Refusal, WayOut } from '../../domain/way-out.ts';
import { matchingAddress } from '../../rails/address.ts';
import type { RateSource } from '../../rates/source.ts';
import type { Trx } from '../../store/database.ts';
import type { IssuedAddress } from '../../store/payments/save-changes.ts';
import type { App } from '../context.ts';
import { refusalText, rejected, type Rejected } from '../rejected.ts';
import { monitoringMsOf } from './payment-policy.ts';
import { DEFAULT_TOLERANCE_BASIS_POINTS, type Issued, type Issuer, type IssuingWallet } from '../../modes/rail.ts';

/** Why a token cannot be used; `param` is the field to blame. */
export type TokenRefusal =
  | ({
      readonly kind: 'refused';
      readonly param: 'coins' | 'crypto_currency' | 'network' | 'amount';
      /** The sentence for pages, whose readers choose from a list. */
      readonly sentence?: Rejected;
    } & Refusal)
  | { readonly kind: 'no_rate'; readonly message: string };

export type TokenChoice = { readonly kind: 'ok'; readonly token: Token } | TokenRefusal;

/** Finds the token named by a client, if the project accepts it. */
export async function chooseToken(
  issuer: Pick<Issuer, 'tokens' | 'payable'>,
  projectId: string,
  asset: string,
  network: string | null,
  { coins = null, trx }: { readonly coins?: Payment['coins']; readonly trx?: Trx } = {},
): Promise<TokenChoice> {
  const enabled = (await issuer.tokens(projectId, trx)).filter((token) => isPayableIn(coins, token));
  const token = enabled.find(
    (candidate) => candidate.asset === asset && (network === null || candidate.network === network),
  );
  if (token !== undefined) return { kind: 'ok', token };
  const off = (await issuer.payable(projectId, trx)).some(
    (candidate) => candidate.asset === asset && (network === null || candidate.network === network),
  );
  return off ? refuseSwitchedOff(enabled, asset, network) : refuseToken(enabled, projectId, asset, network);
}

/** The refusal if the project has chosen not to offer the coin. */
function refuseSwitchedOff(enabled: readonly Token[], asset: string, network: string | null): TokenRefusal {
  const what = network === null ? asset : `${asset} on ${network}`;
  const offered = enabled.map((token) => `${token.asset} on ${token.network}`).join(', ');
  return {
    kind: 'refused',
    param: network !== null && enabled.some((token) => token.asset === asset) ? 'network' : 'crypto_currency',
    sentence: rejected('coin_off', { asset }),
    message:
      `${what} is switched off in this project. ` +
      (offered === ''
        ? 'You can switch it on in the dashboard, on the Wallets page.'
        : `Choose one of ${offered}, or switch it on in the dashboard, on the Wallets page.`),
  };
}

/** Why a token cannot be used: unknown, not on that network, or not configured. */
function refuseToken(
  enabled: readonly Token[],
  projectId: string,
  asset: string,
  network: string | null,
): TokenRefusal {
  if (!isAssetCode(asset)) {
    const names = [...new Set(enabled.map((token) => token.asset))].join(', ');
    return {
      kind: 'refused',
      param: 'crypto_currency',
      ...(names !== ''
        ? { message: `crypto_currency must be one of ${names}.` }
        : {
            message: `crypto_currency must be one of ${ASSET_CODES.join(', ')}, but the project cannot be paid in any of them yet.`,
            wayOut: setUp(projectId, null, "the network's *_RPC_URL, such as BITCOIN_RPC_URL"),
          }),
    };
  }
  const elsewhere = networksOf(enabled, asset);
  const possible = elsewhere === '' ? '' : `, but it can be paid on ${elsewhere}`;
  const setUpOf = (wanted: Network): WayOut => setUp(projectId, wanted, nodeSettings(asset, wanted));
  // The network to blame when the client names none that could be configured.
  const usual = usualNetwork(asset);
  if (network !== null && (!isNetwork(network) || tokenOf(asset, network) === null)) {
    const problem = isNetwork(network) ? `${asset} cannot be paid on ${network}` : 'network is not known';
    return {
      kind: 'refused',
      param: 'network',
      ...(elsewhere === ''
        ? { message: `${problem}, and ${asset} cannot be paid on any network yet.`, wayOut: setUpOf(usual) }
        : { message: `${problem}. ${asset} can be paid on ${elsewhere}.` }),
    };
  }
  const wanted = network ?? usual;
  return {
    kind: 'refused',
    param: network === null ? 'crypto_currency' : 'network',
    sentence: rejected('coin_not_payable', { asset }),
    message: `${asset} cannot be paid on ${wanted} yet${possible}.`,
    wayOut: setUpOf(wanted),
  };
}

/** The operator's task that makes payments on a network possible. */
function setUp(projectId: string, network: Network | null, settings: string): WayOut {
  return { kind: 'set_up', projectId, network, settings };
}

function nodeSettings(asset: AssetCode, network: Network): string {
  const tokens = asset !== nativeAsset(network) ? `; on a chain of your own also ${settingOf(network, 'TOKENS')}` : '';
  return `${settingOf(network, 'RPC_URL')}${tokens}`;
}

function networksOf(tokens: readonly Token[], asset: string): string {
  return tokens
    .filter((token) => token.asset === asset)
    .map((token) => token.network)
    .join(', ');
}

/** The amount owed in a token for a fiat amount at the current price, which is never stale or guessed. */
export function priceToken(
  rates: RateSource,
  token: Token,
  amountMinor: bigint,
  currency: Fiat,
): { readonly kind: 'ok'; readonly owedUnits: bigint } | TokenRefusal {
  const prices = freshPrices(rates, token.asset, currency);
  if (prices.kind !== 'ok') return prices;
  const { fiatPrice, assetPrice } = prices;
  const owedUnits = quoteUnits(amountMinor, currency, fiatPrice, assetPrice, token.decimals);
  if (owedUnits < token.dustUnits) {
    const { asset, decimals, dustUnits } = token;
    const amounts = { units: formatDecimal(owedUnits, decimals), least: formatDecimal(dustUnits, decimals) };
    const sentence = rejected('amount_below_coin', { param: 'amount', asset, ...amounts });
    return { kind: 'refused', param: 'amount', message: refusalText(sentence, 'amount', undefined), sentence };
  }
  return { kind: 'ok', owedUnits };
}

/** The current prices of an asset and a currency, if both are fresh. */
export function freshPrices(
  rates: RateSource,
  asset: AssetCode,
  currency: Fiat,
):
  | { readonly kind: 'ok'; readonly fiatPrice: UsdPriceE8; readonly assetPrice: UsdPriceE8 }
  | { readonly kind: 'no_rate'; readonly message: string } {
  const fiatPrice = rates.usdPrice(currency);
  const assetPrice = rates.usdPrice(asset);
  if (fiatPrice !== null && assetPrice !== null) return { kind: 'ok', fiatPrice, assetPrice };
  const missing = fiatPrice === null ? currency : asset;
  return { kind: 'no_rate', message: `No current ${missing} price is available. Try again shortly.` };
}

/** A quote with a new address, or with the payment's existing one, and the watch for it. */
export async function quotePayment(
  issuer: Pick<Issuer, 'ratesFor' | 'issue'>,
  payment: Pick<Payment, 'id' | 'projectId' | 'amountMinor' | 'amountUsdCents' | 'currency'>,
  token: Token,
  trx?: Trx,
  held: Issued | null = null,
): Promise<
  | {
      readonly kind: 'ok';
      readonly quote: Quote;
      readonly wallet: IssuingWallet | null;
    }
  | TokenRefusal
> {
  const rates = await issuer.ratesFor(payment.projectId, trx);
  const price = priceToken(rates, token, payment.amountMinor, payment.currency);
  if (price.kind !== 'ok') return price;
  const issued = held ?? (await issuer.issue(payment, token, trx));
  if (issued.kind === 'no_method') {
    return {
      ...issued,
      kind: 'refused',
      param: 'crypto_currency',
      sentence: rejected('coin_paused', { asset: token.asset }),
    };
  }
  const { asset, network, decimals } = token;
  const tolerance = BigInt(issued.wallet?.toleranceBasisPoints ?? DEFAULT_TOLERANCE_BASIS_POINTS);
  const toleranceUnits = (price.owedUnits * tolerance) / 10_000n;
  const quote = { asset, network, decimals, owedUnits: price.owedUnits, toleranceUnits, address: issued.address };
  return { kind: 'ok', quote, wallet: issued.wallet };
}

/** The amount in US cents at the current price of its currency; null without a fresh price. */
export function priceInUsd(issuer: Pick<Issuer, 'rates'>, amountMinor: bigint, currency: Fiat): bigint | null {
  const price = issuer.rates.usdPrice(currency);
  return price === null ? null : usdCents(amountMinor, currency, price);
}

/** The record of an address issued for a quote; it stays watched until the monitoring window ends. */
export function issuedAddress(
  app: App,
  payment: Pick<Payment, 'id' | 'expiresAt'>,
  quote: Quote,
  wallet: IssuingWallet,
  now: number,
): IssuedAddress {
  return {
    paymentId: payment.id,
    quote,
    watchedAddress: matchingAddress(quote.network, quote.address),
    walletId: wallet.id,
    index: wallet.index,
    confirmations: wallet.confirmations,
    afterBlock: wallet.afterBlock,
    issuedAt: now,
    watchUntil: payment.expiresAt + monitoringMsOf(app, wallet.monitoringHours),
  };
}
