import { ASSETS, type AssetCode, type Network } from '../../domain/asset.ts';
import { fiatDecimals, formatDecimal, type Fiat } from '../../domain/money.ts';
import { html, type Html } from './html.ts';

/** What people call a network, and what exchanges call tokens on it. */
const NETWORK_NAMES: Readonly<Record<Network, { readonly name: string; readonly standard: string | null }>> = {
  bitcoin: { name: 'Bitcoin', standard: null },
  ethereum: { name: 'Ethereum', standard: 'ERC-20' },
  litecoin: { name: 'Litecoin', standard: null },
  polygon: { name: 'Polygon', standard: null },
  base: { name: 'Base', standard: null },
  arbitrum: { name: 'Arbitrum One', standard: null },
  bsc: { name: 'BNB Smart Chain', standard: 'BEP-20' },
};

/** The network's name. */
export function networkName(network: Network): string {
  return NETWORK_NAMES[network].name;
}

/** The network as loud as exchanges label it for this asset: `Ethereum (ERC-20)` for USDT, `Ethereum` for ETH. */
export function networkLabel(asset: AssetCode, network: Network): string {
  const { name, standard } = NETWORK_NAMES[network];
  const isToken = asset === 'USDT' || asset === 'USDC';
  return isToken && standard !== null ? `${name} (${standard})` : name;
}

/** `USDT on Polygon`. */
export function tokenLabel(asset: AssetCode, network: Network): string {
  return `${asset} on ${networkName(network)}`;
}

/** `Tether USD`. */
export function assetName(asset: AssetCode): string {
  return ASSETS[asset].name;
}

/** `$1,234.50`, from minor units. */
export function formatFiat(minor: bigint, currency: Fiat): string {
  const exact = formatDecimal(minor, fiatDecimals(currency));
  const format = new Intl.NumberFormat('en-US', { style: 'currency', currency, currencyDisplay: 'narrowSymbol' });
  // Given a text, Intl formats every digit of it; given a number, it would round.
  return format.format(exact as `${number}`);
}

/** `0.00012345 BTC`: every digit, no separators, so that it can be compared and typed. */
export function formatCrypto(units: bigint, { decimals, asset }: { decimals: number; asset: AssetCode }): string {
  return `${formatDecimal(units, decimals)} ${asset}`;
}

/** A moment as `14:05:09 UTC`, with the date before it when that is not today's. */
export function utcTime(at: number, now: number): Html {
  const iso = new Date(at).toISOString();
  const sameDay = iso.slice(0, 10) === new Date(now).toISOString().slice(0, 10);
  return html`<time datetime="${iso}">${sameDay ? '' : `${utcDate(at)}, `}${iso.slice(11, 19)} UTC</time>`;
}

/** A moment as `21 November 2025, 14:05:09 UTC`, for receipts. */
export function utcDateTime(at: number): Html {
  const iso = new Date(at).toISOString();
  return html`<time datetime="${iso}">${utcDate(at)}, ${iso.slice(11, 19)} UTC</time>`;
}

function utcDate(at: number): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' }).format(at);
}

/** How long it is from `now` until `at`: `1 hour 5 minutes`, rounded down so that it never promises too much. */
export function timeLeft(at: number, now: number): string {
  const minutes = Math.floor((at - now) / 60_000);
  if (minutes < 1) return 'less than a minute';
  const hours = Math.floor(minutes / 60);
  const parts = [plural(hours, 'hour'), plural(minutes % 60, 'minute')];
  return parts.filter((part) => !part.startsWith('0 ')).join(' ');
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/**
 * An address or hash in groups of four for comparing, `0x` with the first, as wallets shorten it to `0x71C7…976F`. The gaps are drawn by the style sheet and the breaks are `<wbr>`, so
 * what is copied has neither.
 */
export function grouped(text: string): Html {
  const groups = text.match(/^0x.{1,4}|.{1,4}/gsu) ?? [];
  return html`<code class="grouped">${groups.map((group) => html`<span>${group}</span><wbr />`)}</code>`;
}
