import { ASSETS } from '../../../domain/asset.ts';
import type { AssetCode } from '../../../domain/asset-code.ts';
import { NETWORK_FACTS, NETWORKS, nativeAsset, type Network } from '../../../domain/networks.ts';
import { formatDecimal, type Fiat } from '../../../domain/money.ts';
import { html, raw, type Html } from '../../pages/html.ts';
import type { Locale } from './locale.ts';

/** The network's name. */
export function networkName(network: Network): string {
  return NETWORK_FACTS[network].label;
}

/** The network as exchanges label it for this asset: `Ethereum (ERC-20)` for USDT, `Ethereum` for ETH. */
export function networkLabel(asset: AssetCode, network: Network): string {
  const { label, standard } = NETWORK_FACTS[network];
  return standard !== null && asset !== nativeAsset(network) ? `${label} (${standard})` : label;
}

/** The name of an asset, such as `Tether USD`. */
export function assetName(asset: AssetCode): string {
  return ASSETS[asset].name;
}

interface Counted {
  readonly decimals: number;
  readonly asset: AssetCode;
}

/** Stablecoins are written with as many places as their currency. */
const PEGGED_PLACES = 2;
const COINS: ReadonlySet<AssetCode> = new Set(NETWORKS.flatMap((network) => NETWORK_FACTS[network].coin?.asset ?? []));

/**
 * Every digit without separators, so that the amount can be compared and typed: `0.00012345`, `49.90` of a stablecoin.
 */
export function digitsOf(units: bigint, { decimals, asset }: Counted, places = 0): string {
  const text = formatDecimal(units, decimals);
  const wanted = Math.max(places, COINS.has(asset) ? 0 : PEGGED_PLACES);
  const missing = wanted - placesOf(text);
  if (missing <= 0) return text;
  return `${text}${text.includes('.') ? '' : '.'}${'0'.repeat(missing)}`;
}

function placesOf(text: string): number {
  const point = text.indexOf('.');
  return point < 0 ? 0 : text.length - point - 1;
}

/** The largest number of decimal places among these amounts: written with as many, they can be compared. */
export function commonPlaces(counted: Counted, ...amounts: readonly bigint[]): number {
  return Math.max(...amounts.map((units) => placesOf(digitsOf(units, counted))));
}

/** `0.00012345 BTC` as markup that is read from left to right in every language and does not break. */
export function crypto(units: bigint, counted: Counted, places = 0): Html {
  return html`<bdi class="intact">${digitsOf(units, counted, places)} ${counted.asset}</bdi>`;
}

/** `$49.90` as markup that does not break; in right-to-left text, a sign after the number would be split: `$US`. */
export function fiat(locale: Locale, minor: bigint, currency: Fiat): Html {
  return html`<bdi class="intact" dir="ltr">${locale.fiat(minor, currency)}</bdi>`;
}

/** `$49.90 USD`: with the code where the symbol alone could be another currency's. */
export function fiatWithCode(locale: Locale, minor: bigint, currency: Fiat): Html {
  const amount = locale.fiat(minor, currency);
  return html`${fiat(locale, minor, currency)}
  ${!/[A-Z]{2}/.test(amount) && html`<span class="unit">${currency}</span>`}`;
}

/** Sentences one after the other, separated by a space if the language uses one. */
export function sentences({ code }: Locale, ...all: readonly (Html | false)[]): Html {
  const space = code === 'ja' || code === 'zh' ? '' : ' ';
  return html`${all.filter((one) => one !== false).map((one, index) => html`${index > 0 && space}${one}`)}`;
}

/** A name or number that keeps its own direction in text of any language. */
export function name(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/**
 * An address or hash in groups of four for comparing, with `0x` in the first group, as wallets shorten it to
 * `0x71C7…976F`. The last group includes the remainder, because people compare the last group. The gaps are drawn by
 * the style sheet and the breaks are `<wbr>`, so neither is copied.
 */
export function grouped(text: string): Html {
  const groups = text.match(/^0x.{1,4}|.{4}(?:.{1,3}$)?|.{1,4}/gsu) ?? [];
  const spans = /^\w*$/.test(text)
    ? // Nothing to escape, as in every address and hash.
      raw(`<span>${groups.join('</span><wbr /><span>')}</span><wbr />`)
    : groups.map((group) => html`<span>${group}</span><wbr />`);
  return html`<code class="grouped" dir="ltr">${spans}</code>`;
}
