import type { AssetCode, Network } from '../../domain/asset.ts';
import { assetName, networkLabel, timeLeft, tokenLabel } from './format.ts';
import { html, type Html } from './html.ts';
import { statusHeading } from './layout.ts';
import { cancelForm } from './cancel-form.ts';
import { paymentPath } from './safe-url.ts';
import type { ChooseStep, PaymentView, TokenChoice } from './view.ts';

/**
 * The choice of a token: first the asset, then, where it lives on several networks, the network as a step of its own. People
 * lose money by sending the right coin on the wrong network, so that the choice is never made for them.
 */
export function chooseCard(view: PaymentView, step: ChooseStep): Html {
  const assets = [...new Set(step.tokens.map((token) => token.asset))];
  const { current } = step;
  return html`${statusHeading('plain', 'Choose how to pay', html`Pick a coin; the exact amount and the address come next. <strong>${timeLeft(view.payUntilAt, view.now)}</strong> left to pay.`)}
    <ul class="tokens">
      ${assets.map((asset) => {
        const networks = step.tokens.filter((token) => token.asset === asset).map((token) => token.network);
        const open = assets.length === 1;
        return html`<li>
          ${networks.length === 1 ? soleNetwork(view, asset, networks) : severalNetworks(view, asset, networks, open)}
        </li>`;
      })}
    </ul>
    ${current && html`<p class="actions"><a class="button quiet" href="${paymentPath(view.paymentId)}">Keep ${tokenLabel(current.asset, current.network)}</a></p>`}
    ${step.canCancel && cancelForm(view.paymentId)}`;
}

function soleNetwork(view: PaymentView, asset: AssetCode, networks: readonly Network[]): Html {
  return html`${networks.map((network) =>
    tokenForm(
      view,
      { asset, network },
      html`${coin(asset)}<span class="coin-text"><strong>${assetName(asset)}</strong> <span>${asset}</span></span>
        <span class="on">on the <strong>${networkLabel(asset, network)}</strong> network</span>`,
      'token with-coin',
    ),
  )}`;
}

/** `details` of one name open one at a time, without a script. */
function severalNetworks(view: PaymentView, asset: AssetCode, networks: readonly Network[], open: boolean): Html {
  return html`<details class="asset" name="asset" ${open && html` open`}>
    <summary class="token with-coin">
      ${coin(asset)}<span class="coin-text"><strong>${assetName(asset)}</strong> <span>${asset}</span></span>
      <span class="on">${networks.length} networks</span>
    </summary>
    <div class="networks">
      <p>Which network will your wallet or exchange send ${asset} on? It must be the same one.</p>
      <ul>
        ${networks.map((network) => html`<li>${tokenForm(view, { asset, network }, html`<span>${asset} on <strong>${networkLabel(asset, network)}</strong></span>`)}</li>`)}
      </ul>
    </div>
  </details>`;
}

function tokenForm(view: PaymentView, { asset, network }: TokenChoice, label: Html, looks = 'token'): Html {
  return html`<form method="post" action="${paymentPath(view.paymentId, 'token')}">
    <input type="hidden" name="asset" value="${asset}" /><input type="hidden" name="network" value="${network}" />
    <button type="submit" class="${looks}">${label}</button>
  </form>`;
}

function coin(asset: AssetCode): Html {
  return html`<span class="coin" aria-hidden="true">${asset}</span>`;
}
