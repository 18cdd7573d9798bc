import { ASSETS } from '../../../domain/asset.ts';
import { NETWORK_FACTS } from '../../../domain/networks.ts';
import type { EvmTransfer } from '../../../domain/payment-uri.ts';
import { cancelForm, copyButton, timeLeft, rateOf, worthOf, contactShop } from './parts.ts';
import { commonPlaces, crypto, digitsOf, grouped, networkLabel, networkName, sentences } from '../language/format.ts';
import { html, type Html, raw } from '../../pages/html.ts';
import { facts, statusHeading } from '../layout.ts';
import { pageHref, paymentPath, walletHref } from '../present.ts';
import type { PaymentView, PayStep } from '../view.ts';
import { qrPath } from '../../pages/qr-path.ts';

/** Longer amounts are smaller, so that no digit wraps on a phone of 320 px. */
const LONG_AMOUNT = 12;

/** Says how much to send where, on which network and until when; after a partial payment, the rest. */
export function payCard(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const partly = step.receivedUnits > 0n;
  const heading = partly ? locale.t('part_title') : locale.t('pay_title');
  return html`${statusHeading(partly ? 'attention' : 'waiting', heading, '')} ${timeLeft(view)}
    <p class="warning" hidden data-overdue>${locale.t('checking_hint')}</p>
    ${partly && partial(view, step)}
    <div class="pay">
      <div class="instructions">
        ${what(view, step)} ${where(view, step)}
        <p class="warning">${warningOf(view, step)}</p>
      </div>
      ${code(view, step)} ${openWallet(view, step)}
    </div>
    ${step.transfer && wallets(view, step, step.transfer)} ${exchangeHelp(view, step)}
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

function partial(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const { quote, receivedUnits, missingUnits } = step;
  const places = commonPlaces(quote, quote.owedUnits, receivedUnits, missingUnits);
  const both = (units: bigint) => html`${crypto(units, quote, places)} ${worthOf(locale, units, { ...view, quote })}`;
  return html`${facts([
      [locale.t('asked_for'), both(quote.owedUnits)],
      [locale.t('received'), both(receivedUnits)],
      [locale.t('still_missing'), html`<strong data-announce>${both(missingUnits)}</strong>`],
    ])}
    <p class="hint">${sentences(locale, locale.t('rest_too_small'), contactShop(view))}</p>`;
}

function amountOf({ missingUnits, quote }: PayStep): string {
  return digitsOf(missingUnits, quote);
}

function what(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const { asset, network } = step.quote;
  const digits = amountOf(step);
  const rate = rateOf(locale, { ...view, quote: step.quote });
  return html`<div class="what">
    <p class="label">${step.receivedUnits > 0n ? locale.t('send_rest') : locale.t('send_exactly')}</p>
    <p class="amount">
      <bdi dir="ltr"
        ><span class="digits${digits.length > LONG_AMOUNT && ' long'}" data-amount="${digits}">${digits}</span>
        <span class="unit">${asset}</span></bdi
      >
    </p>
    ${copyButton(digits, locale.plain('copy_amount'))}
    <p class="network">
      <span class="label">${locale.t('network')}</span> <strong>${networkLabel(asset, network)}</strong>
    </p>
    <p class="hint rate">${locale.t('rate_held', { rate, time: locale.time(view.payUntilAt, view.now) })}</p>
  </div>`;
}

function where({ frame: { locale } }: PaymentView, { quote }: PayStep): Html {
  return html`<div class="where">
    <p class="label">${locale.t('to_address', { network: networkLabel(quote.asset, quote.network) })}</p>
    <p class="address" data-address="${quote.address}">${grouped(quote.address)}</p>
    ${copyButton(quote.address, locale.plain('copy_address'))}
    <p class="hint">${locale.t('compare')}</p>
  </div>`;
}

function warningOf({ test, frame: { locale } }: PaymentView, { quote: { asset, network } }: PayStep): Html {
  return test !== null
    ? locale.t('test_no_send')
    : locale.t('only_token', { asset, network: networkLabel(asset, network) });
}

/** Opens a wallet on the same device: useful on a phone, where the code cannot be scanned. */
function openWallet({ frame: { locale } }: PaymentView, { paymentUri }: PayStep): Html | null {
  const wallet = walletHref(paymentUri);
  if (wallet === null) return null;
  return html`<div class="open-wallet">
    <a class="button" href="${wallet}">${locale.t('open_wallet')}</a>
    <p class="hint">${locale.t('open_wallet_hint')}</p>
  </div>`;
}

/** The mistakes of people who withdraw from an exchange: its fee, its network, its time. */
function exchangeHelp({ frame: { locale } }: PaymentView, step: PayStep): Html {
  const { asset, network } = step.quote;
  const { foreignNetwork } = ASSETS[asset];
  const label = networkLabel(asset, network);
  return html`<details class="exchange" id="exchange">
    <summary>${locale.t('exchange_title')}</summary>
    <ol>
      <li>
        ${sentences(
          locale,
          locale.t('exchange_network', { asset, network: label }),
          foreignNetwork !== null && locale.t('not_on', { asset, network: foreignNetwork }),
        )}
      </li>
      <li>${locale.t('exchange_fee', { amount: crypto(step.missingUnits, step.quote) })}</li>
      <li>${locale.t('exchange_time')}</li>
    </ol>
  </details>`;
}

/**
 * Without a payment URI, and for tokens, the code contains only the address, which every wallet reads. Not in test
 * mode: a wallet would offer to send real money to an address whose key nobody has.
 */
function code(view: PaymentView, step: PayStep): Html {
  const { locale } = view.frame;
  const { quote, paymentUri } = step;
  const amount = amountOf(step);
  const token = locale.plain('token_on', { asset: quote.asset, network: networkName(quote.network) });
  const bare = view.test ? `Test payment, send nothing: ${amount} ${quote.asset} to ${quote.address}` : quote.address;
  const svg = qrSvg(paymentUri ?? bare, {
    id: 'qr',
    title: locale.plain('qr_title', { amount, token }),
    description: locale.plain(paymentUri === null ? 'qr_text_address' : 'qr_text'),
  });
  return html`<details class="show-code" id="show-code">
      <summary>${locale.t('show_qr')}</summary>
    </details>
    <figure class="code">
      ${svg}
      <figcaption>
        ${view.test ? locale.t('scan_test') : locale.t('scan')}
        ${!view.test && paymentUri === null && html`<br />${locale.t('qr_only_address')}`}
      </figcaption>
    </figure>
    ${step.tokenUri && codeWithAmount(view, step, step.tokenUri)}`;
}

/**
 * Wallets whose documentation or published source reads an EIP-681 token transfer with a chain id, on any chain
 * (docs/design/payment-page.md).
 */
const TOKEN_URI_WALLETS = ['MetaMask', 'Rainbow'];

/** Shown on request, never first: a wallet that reads only the beginning of the URI would pay the token's contract. */
function codeWithAmount(view: PaymentView, step: PayStep, tokenUri: string): Html {
  const { locale } = view.frame;
  const { asset, network } = step.quote;
  const wallets = [...TOKEN_URI_WALLETS, ...NETWORK_FACTS[network].tokenUriWallets];
  const token = locale.plain('token_on', { asset, network: networkName(network) });
  const link = walletHref(tokenUri);
  const svg = qrSvg(tokenUri, {
    id: 'qr-amount',
    title: locale.plain('qr_title', { amount: amountOf(step), token }),
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

/**
 * A QR code as inline SVG, always dark on light (many scanners fail on inverted codes). `id` starts the ids of its
 * title and description, which screen readers announce.
 */
export function qrSvg(
  content: string,
  { id, title, description }: { readonly id: string; readonly title: string; readonly description: string },
): Html {
  const { path, size } = codeOf(content);
  return html`<svg
    class="qr"
    role="img"
    aria-labelledby="${id}-title ${id}-desc"
    viewBox="0 0 ${size} ${size}"
    shape-rendering="crispEdges"
  >
    <title id="${id}-title">${title}</title>
    <desc id="${id}-desc">${description}</desc>
    <rect width="${size}" height="${size}" fill="#fff" />
    <path stroke="#000" d="${path}" />
  </svg>`;
}

interface Code {
  readonly path: Html;
  readonly size: number;
}

/** A code takes 1.5 ms, and its page is requested again and again. At 5 KB each, this many are 2.5 MB. */
const MAX_KEPT = 500;
const kept = new Map<string, Code>();

function codeOf(content: string): Code {
  const known = kept.get(content);
  if (known !== undefined) return known;
  const { path, size } = qrPath(content);
  const code = { path: raw(path), size };
  // A map keeps the order of insertion: its first key was made longest ago.
  const [oldest] = kept.keys();
  if (kept.size >= MAX_KEPT && oldest !== undefined) kept.delete(oldest);
  kept.set(content, code);
  return code;
}
