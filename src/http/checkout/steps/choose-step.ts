import { ASSETS } from '../../../domain/asset.ts';
import type { AssetCode } from '../../../domain/asset-code.ts';
import { NETWORK_FACTS, type Network } from '../../../domain/networks.ts';
import { cancelForm, timeLeft } from './parts.ts';
import { assetName, networkLabel, networkName } from '../language/format.ts';
import { html, type Html, raw } from '../../pages/html.ts';
import { statusHeading } from '../layout.ts';
import { pageHref, paymentPath } from '../present.ts';
import type { ChooseStep, PaymentView, TokenChoice } from '../view.ts';

/** Each asset's well-known sign in our own drawing, on a disc of its colour. */
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

/** The sign of an asset; its name is beside it. */
function coin(asset: AssetCode): Html {
  return html`<svg class="coin ${asset.toLowerCase()}" aria-hidden="true" viewBox="0 0 24 24">${SIGNS[asset]}</svg>`;
}

/**
 * The choice of a token: first the asset, then, if it exists on several networks, the network as a separate step.
 * People lose money by sending the right coin on the wrong network, so the choice is never made for them.
 */
export function chooseCard(view: PaymentView, step: ChooseStep): Html {
  const { locale } = view.frame;
  const assets = [...new Set(step.tokens.map((token) => token.asset))];
  const { current } = step;
  return html`${statusHeading('plain', locale.t('choose_title'), locale.t('choose_text'))} ${timeLeft(view)}
    <ul class="tokens">
      ${assets.map((asset) => {
        const networks = networksOf(asset, step.tokens);
        const open = assets.length === 1;
        return html`<li>
          ${networks.length === 1 ? soleNetwork(view, asset, networks) : severalNetworks(view, asset, networks, open)}
        </li>`;
      })}
    </ul>
    ${
      current &&
      html`<p class="actions">
        <a class="button quiet" href="${pageHref(view.frame, paymentPath(view.paymentId))}"
          ><span>${keepLabel(view, current)}</span></a
        >
      </p>`
    }
    ${step.canCancel && cancelForm(view)}`;
}

function keepLabel({ frame: { locale } }: PaymentView, { asset, network }: TokenChoice): Html {
  return locale.t('keep_token', { token: locale.t('token_on', { asset, network: networkName(network) }) });
}

function networksOf(asset: AssetCode, tokens: readonly TokenChoice[]): readonly Network[] {
  return tokens.filter((token) => token.asset === asset).map((token) => token.network);
}

function soleNetwork(view: PaymentView, asset: AssetCode, networks: readonly Network[]): Html {
  const { locale } = view.frame;
  return html`${networks.map((network) =>
    tokenForm(
      view,
      { asset, network },
      html`${coin(asset)}<span class="coin-text"><strong>${assetName(asset)}</strong> <span>${asset}</span></span>
        <span class="on">${locale.t('on_network', { network: networkLabel(asset, network) })}</span>`,
      'token with-coin',
    ),
  )}`;
}

/** `details` with the same name open one at a time, without a script. */
function severalNetworks(view: PaymentView, asset: AssetCode, networks: readonly Network[], open: boolean): Html {
  const { locale } = view.frame;
  const { foreignNetwork } = ASSETS[asset];
  return html`<details class="asset" name="asset" id="asset-${asset}" ${open && html` open`}>
    <summary class="token with-coin">
      ${coin(asset)}<span class="coin-text"><strong>${assetName(asset)}</strong> <span>${asset}</span></span>
      <span class="on">${named(view, networks)}</span>
    </summary>
    <div class="networks">
      <p>${locale.t('pick_network', { asset })}</p>
      <ul>
        ${networks.map((network) => html`<li>${tokenForm(view, { asset, network }, networkChoice(view, asset, network))}</li>`)}
      </ul>
      ${foreignNetwork !== null && html`<p class="hint">${locale.t('not_on', { asset, network: foreignNetwork })}</p>`}
    </div>
  </details>`;
}

/** More names than this break the line of a row. */
const MAX_NAMED = 2;

function named({ frame: { locale } }: PaymentView, networks: readonly Network[]): string {
  const names = networks.map(networkName);
  if (names.length <= MAX_NAMED) return locale.oneOf(names);
  return `${locale.list(names.slice(0, MAX_NAMED))} +${names.length - MAX_NAMED}`;
}

function networkChoice({ frame: { locale } }: PaymentView, asset: AssetCode, network: Network): Html {
  return html`<span
      >${locale.t('token_on', { asset, network: html`<strong>${networkLabel(asset, network)}</strong>` })}</span
    >
    <span class="on">${locale.t(`fees_${NETWORK_FACTS[network].fees}`)}</span>`;
}

function tokenForm(view: PaymentView, { asset, network }: TokenChoice, label: Html, className = 'token'): Html {
  return html`<form method="post" action="${pageHref(view.frame, paymentPath(view.paymentId, 'token'))}">
    <input type="hidden" name="asset" value="${asset}" /><input type="hidden" name="network" value="${network}" />
    <button type="submit" class="${className}">${label}</button>
  </form>`;
}
