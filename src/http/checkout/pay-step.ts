import { NETWORK_FACTS } from '../../domain/networks.ts';
import { formatDecimal } from '../../domain/money.ts';
import type { EvmTransfer } from '../../domain/payment-uri.ts';
import { cancelForm } from './cancel-form.ts';
import { timeLeft } from './countdown.ts';
import { crypto, grouped, networkLabel, networkName } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { facts, statusHeading } from './layout.ts';
import { pageHref, paymentPath } from './links.ts';
import { qrSvg } from './qr.ts';
import { walletHref } from './safe-url.ts';
import type { PaymentView, PayStep } from './view.ts';

/** Longer amounts are smaller, so that no digit wraps on a phone of 320 px. */
const LONG_AMOUNT = 12;

/** What to send, where, on which network and until when; after a partial payment, the rest of it. */
export function payCard(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const partly = step.receivedUnits > 0n;
  const heading = partly ? locale.t('part_title') : locale.t('pay_title');
  return html`${statusHeading(partly ? 'attention' : 'waiting', heading, '')} ${timeLeft(view)}
    <p class="warning" hidden data-overdue>${locale.t('checking_hint')}</p>
    ${partly && partial(view, step)}
    <div class="pay">${what(view, step)} ${where(view, step)} ${code(view, step)}</div>
    ${step.transfer && wallets(view, step, step.transfer)}
    ${
      step.canChangeToken &&
      html`<p class="actions">
        <a class="button quiet" href="${pageHref(view.frame, paymentPath(view.paymentId), { choose: 'token' })}"
          >${locale.t('other_token')}</a
        >
      </p>`
    }
    ${step.canCancel && cancelForm(view)}`;
}

function partial({ frame: { locale } }: PaymentView, step: PayStep): Html {
  return facts([
    [locale.t('asked_for'), crypto(step.quote.owedUnits, step.quote)],
    [locale.t('received'), crypto(step.receivedUnits, step.quote)],
    [locale.t('still_missing'), html`<strong data-announce>${crypto(step.missingUnits, step.quote)}</strong>`],
  ]);
}

function digitsOf({ missingUnits, quote }: PayStep): string {
  return formatDecimal(missingUnits, quote.decimals);
}

function what(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const { asset, network } = step.quote;
  const digits = digitsOf(step);
  const wallet = walletHref(step.paymentUri);
  return html`<div class="what">
    <p class="label">${step.receivedUnits > 0n ? locale.t('send_rest') : locale.t('send_exactly')}</p>
    <p class="amount">
      <bdi dir="ltr"
        ><span class="digits${digits.length > LONG_AMOUNT && ' long'}" data-amount="${digits}">${digits}</span>
        <span class="unit">${asset}</span></bdi
      >
      ${copyButton(digits, locale.plain('copy_amount'))}
    </p>
    <p class="network">
      <span class="label">${locale.t('network')}</span> <strong>${networkLabel(asset, network)}</strong>
    </p>
    <p class="warning">
      ${view.test ? locale.t('test_no_send') : locale.t('only_token', { asset, network: networkLabel(asset, network) })}
    </p>
    ${wallet && html`<a class="button" href="${wallet}">${locale.t('open_wallet')}</a>`}
  </div>`;
}

function where({ frame: { locale } }: PaymentView, { quote, addressIndex }: PayStep): Html {
  return html`<div class="where">
    <p class="label">${locale.t('to_address', { network: networkLabel(quote.asset, quote.network) })}</p>
    <div class="address">
      <p data-address="${quote.address}">${grouped(quote.address)}</p>
      ${copyButton(quote.address, locale.plain('copy_address'))}
    </div>
    <p class="hint">
      ${locale.t('compare')} ${addressIndex !== null && locale.t('address_number', { number: addressIndex })}
    </p>
  </div>`;
}

/** Shown by the script, because copying needs it. */
function copyButton(text: string, label: string): Html {
  return html`<button type="button" class="copy" hidden data-copy="${text}">${COPY}<span>${label}</span></button>`;
}

const COPY = html`<svg aria-hidden="true" viewBox="0 0 24 24"><path d="M9 9h10v11H9zM5 15V4h10" /></svg>`;

/**
 * Without a payment URI, and for tokens, the code contains the bare address, which every wallet reads. Not in test
 * mode: a wallet would offer to send real money to an address that nobody has the key of.
 */
function code(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const { quote, paymentUri } = step;
  const amount = digitsOf(step);
  const token = locale.plain('token_on', { asset: quote.asset, network: networkName(quote.network) });
  const bare = view.test ? `Test payment, send nothing: ${amount} ${quote.asset} to ${quote.address}` : quote.address;
  const svg = qrSvg(paymentUri ?? bare, {
    id: 'qr',
    title: locale.plain('qr_title', { amount, token }),
    description: locale.plain(paymentUri === null ? 'qr_text_address' : 'qr_text'),
  });
  return html`<figure class="code">
    ${svg}
    <figcaption>
      ${view.test ? locale.t('scan_test') : locale.t('scan')}
      ${!view.test && paymentUri === null && html`<br />${locale.t('qr_only_address')}`}
    </figcaption>
    ${step.tokenUri && codeWithAmount(view, step, step.tokenUri)}
  </figure>`;
}

/**
 * Wallets whose documentation or published source reads an EIP-681 token transfer with a chain id, on any chain
 * (docs/decisions/0037).
 */
const TOKEN_URI_WALLETS = ['MetaMask', 'Rainbow'];

/** Shown on request, never first: a wallet that reads only its beginning would pay the token's contract. */
function codeWithAmount(view: PaymentView, step: PayStep, tokenUri: string): Html {
  const { locale } = view.frame;
  const { asset, network } = step.quote;
  const wallets = [...TOKEN_URI_WALLETS, ...NETWORK_FACTS[network].tokenUriWallets];
  const token = locale.plain('token_on', { asset, network: networkName(network) });
  const link = walletHref(tokenUri);
  const svg = qrSvg(tokenUri, {
    id: 'qr-amount',
    title: locale.plain('qr_title', { amount: digitsOf(step), token }),
    description: locale.plain('qr_text'),
  });
  return html`<details class="code-amount" id="code-amount">
    <summary>${locale.t('qr_with_amount', { wallets: wallets.join(', ') })}</summary>
    <p class="hint">${locale.t('qr_with_amount_hint')}</p>
    ${svg} ${link && html`<a class="button quiet" href="${link}">${locale.t('open_wallet')}</a>`}
  </details>`;
}

/** For wallets in the browser (EIP-6963); the script shows it when one announces itself. */
function wallets({ frame: { locale } }: PaymentView, { quote }: PayStep, transfer: EvmTransfer): Html {
  const transaction = JSON.stringify({
    chainId: `0x${transfer.chainId.toString(16)}`,
    to: transfer.to,
    value: `0x${transfer.value.toString(16)}`,
    data: transfer.data,
  });
  return html`<section
    class="wallets"
    id="wallets"
    hidden
    data-transaction="${transaction}"
    data-network="${networkName(quote.network)}"
  >
    <h3>${locale.t('wallets_title')}</h3>
    <ul data-wallet-list></ul>
    <p class="wallet-status" role="status" data-wallet-status></p>
  </section>`;
}
