import type { AssetCode } from '../../domain/asset.ts';
import { html, raw, type Html } from '../pages/html.ts';

/** Each asset's well-known sign in lines of our own, on a disc of its colour. */
const SIGNS: Readonly<Record<AssetCode, Html>> = {
  BTC: lines(
    'M9 5.5v13M6.5 5.5h6.75a3.2 3.2 0 0 1 0 6.4H9m4.7 0a3.3 3.3 0 0 1 0 6.6H6.5M11 3v2.5M14 3v2.5M11 18.5V21M14 18.5V21',
  ),
  ETH: html`<path class="solid" d="${raw('M12 2.5 6.2 12.2 12 15.5l5.8-3.3zM6.2 14 12 21.5 17.8 14 12 17.3z')}" />`,
  USDT: lines('M5.5 5.5h13M12 5.5v14M12 9.5c-4 0-6.5.8-6.5 2s2.5 2 6.5 2 6.5-.8 6.5-2-2.5-2-6.5-2'),
  USDC: lines(
    'M9 4.5a8 8 0 0 0 0 15M15 4.5a8 8 0 0 1 0 15M14.6 9.7c-.3-1.2-1.3-1.7-2.6-1.7-1.5 0-2.6.7-2.6 1.9 0 2.8 5.3 1.3 5.3 4.2 0 1.2-1.1 1.9-2.7 1.9-1.4 0-2.5-.6-2.7-1.8M12 6.5V8M12 16v1.5',
  ),
  LTC: lines('M11.5 4 8.5 18.5h8.5M6.5 14.2l8-3.4'),
};

function lines(path: string): Html {
  return html`<path d="${raw(path)}" />`;
}

/** The sign of an asset; its name stands beside it. */
export function coin(asset: AssetCode): Html {
  return html`<svg class="coin ${asset.toLowerCase()}" aria-hidden="true" viewBox="0 0 24 24">${SIGNS[asset]}</svg>`;
}
