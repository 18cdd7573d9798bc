import { ASSETS, type AssetCode } from '../../domain/asset.ts';
import { NETWORK_FACTS, type Network } from '../../domain/networks.ts';
import { cancelForm } from './cancel-form.ts';
import { coin } from './coin.ts';
import { timeLeft } from './countdown.ts';
import { assetName, networkLabel, networkName } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { statusHeading } from './layout.ts';
import { pageHref, paymentPath } from './links.ts';
import type { ChooseStep, PaymentView, TokenChoice } from './view.ts';

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

/** More names than this would be a paragraph in each row. */
const MAX_NAMED = 4;

function named({ frame: { locale } }: PaymentView, networks: readonly Network[]): string {
  const names = networks.map(networkName);
  if (names.length <= MAX_NAMED) return locale.oneOf(names);
  const shown = names.slice(0, MAX_NAMED - 1);
  return `${shown.join(', ')} +${names.length - shown.length}`;
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
