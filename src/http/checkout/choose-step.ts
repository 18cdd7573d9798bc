import type { AssetCode } from '../../domain/asset.ts';
import { NETWORK_FACTS, type Network } from '../../domain/networks.ts';
import { cancelForm } from './cancel-form.ts';
import { timeLeft } from './countdown.ts';
import { assetName, networkLabel, networkName } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { statusHeading } from './layout.ts';
import { pageHref, paymentPath } from './links.ts';
import type { ChooseStep, PaymentView, TokenChoice } from './view.ts';

/** From this many coins on, the list can be searched. */
const MANY_ASSETS = 4;

/**
 * The choice of a token: first the asset, then, if it exists on several networks, the network as a separate step.
 * People lose money by sending the right coin on the wrong network, so the choice is never made for them.
 */
export function chooseCard(view: PaymentView, step: ChooseStep): Html {
  const { locale } = view.frame;
  const assets = [...new Set(step.tokens.map((token) => token.asset))];
  const { current } = step;
  return html`${statusHeading('plain', locale.t('choose_title'), locale.t('choose_text'))} ${timeLeft(view)}
    ${assets.length >= MANY_ASSETS && search(view)}
    <ul class="tokens">
      ${assets.map((asset) => {
        const networks = step.tokens.filter((token) => token.asset === asset).map((token) => token.network);
        const open = assets.length === 1;
        return html`<li data-token="${searched(asset, networks)}">
          ${networks.length === 1 ? soleNetwork(view, asset, networks) : severalNetworks(view, asset, networks, open)}
        </li>`;
      })}
    </ul>
    <p class="hint" hidden data-no-match>${locale.t('no_match')}</p>
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

/** Shown by the script, because the search needs it. */
function search({ frame: { locale } }: PaymentView): Html {
  return html`<p class="search">
    <label for="search" hidden data-search>${locale.t('search')}</label>
    <input id="search" type="search" autocomplete="off" spellcheck="false" hidden data-search />
  </p>`;
}

function searched(asset: AssetCode, networks: readonly Network[]): string {
  const names = [asset, assetName(asset), ...networks.flatMap((network) => [network, networkLabel(asset, network)])];
  const also = networks.flatMap((network) => NETWORK_FACTS[network].aliases);
  const text = [...names, ...also].join(' ').toLowerCase();
  // People write ERC20 and ERC-20.
  return `${text} ${text.replaceAll('-', '')}`;
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
  return html`<details class="asset" name="asset" id="asset-${asset}" ${open && html` open`}>
    <summary class="token with-coin">
      ${coin(asset)}<span class="coin-text"><strong>${assetName(asset)}</strong> <span>${asset}</span></span>
      <span class="on">${locale.t('networks_count', { count: networks.length })}</span>
    </summary>
    <div class="networks">
      <p>${locale.t('pick_network', { asset })}</p>
      <ul>
        ${networks.map((network) => html`<li>${tokenForm(view, { asset, network }, networkChoice(view, asset, network))}</li>`)}
      </ul>
    </div>
  </details>`;
}

function networkChoice({ frame: { locale } }: PaymentView, asset: AssetCode, network: Network): Html {
  return html`<span
    >${locale.t('token_on', { asset, network: html`<strong>${networkLabel(asset, network)}</strong>` })}</span
  >`;
}

function tokenForm(view: PaymentView, { asset, network }: TokenChoice, label: Html, className = 'token'): Html {
  return html`<form method="post" action="${pageHref(view.frame, paymentPath(view.paymentId, 'token'))}">
    <input type="hidden" name="asset" value="${asset}" /><input type="hidden" name="network" value="${network}" />
    <button type="submit" class="${className}">${label}</button>
  </form>`;
}

function coin(asset: AssetCode): Html {
  return html`<span class="coin ${asset.toLowerCase()}" aria-hidden="true">${asset}</span>`;
}
