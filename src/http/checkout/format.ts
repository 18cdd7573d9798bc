import { ASSETS, type AssetCode } from '../../domain/asset.ts';
import { NETWORK_FACTS, nativeAsset, type Network } from '../../domain/networks.ts';
import { formatDecimal } from '../../domain/money.ts';
import { html, raw, type Html } from '../pages/html.ts';

/** The network's name. */
export function networkName(network: Network): string {
  return NETWORK_FACTS[network].label;
}

/** The network as exchanges label it for this asset: `Ethereum (ERC-20)` for USDT, `Ethereum` for ETH. */
export function networkLabel(asset: AssetCode, network: Network): string {
  const { label, standard } = NETWORK_FACTS[network];
  return standard !== null && asset !== nativeAsset(network) ? `${label} (${standard})` : label;
}

/** `Tether USD`. */
export function assetName(asset: AssetCode): string {
  return ASSETS[asset].name;
}

interface Counted {
  readonly decimals: number;
  readonly asset: AssetCode;
}

/** `0.00012345 BTC`: every digit, without separators, so that it can be compared and typed. */
export function formatCrypto(units: bigint, { decimals, asset }: Counted): string {
  return `${formatDecimal(units, decimals)} ${asset}`;
}

/** The same as markup that is read from left to right in every language. */
export function crypto(units: bigint, counted: Counted): Html {
  return name(formatCrypto(units, counted));
}

/** A name or number that keeps its own direction among words of any language. */
export function name(text: string): Html {
  return html`<bdi>${text}</bdi>`;
}

/**
 * An address or hash in groups of four for comparing, with `0x` in the first group, as wallets shorten it to
 * `0x71C7…976F`. The gaps are drawn by the style sheet and the breaks are `<wbr>`, so neither is copied.
 */
export function grouped(text: string): Html {
  const groups = text.match(/^0x.{1,4}|.{1,4}/gsu) ?? [];
  const spans = /^\w*$/.test(text)
    ? // Nothing to escape, as in every address and hash.
      raw(`<span>${groups.join('</span><wbr /><span>')}</span><wbr />`)
    : groups.map((group) => html`<span>${group}</span><wbr />`);
  return html`<code class="grouped" dir="ltr">${spans}</code>`;
}
