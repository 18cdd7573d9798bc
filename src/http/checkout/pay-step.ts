import { formatDecimal } from '../../domain/money.ts';
import { cancelForm } from './cancel-form.ts';
import { assetName, formatCrypto, grouped, networkLabel, timeLeft, tokenLabel, utcTime } from './format.ts';
import { html, type Html } from './html.ts';
import { facts, statusHeading } from './layout.ts';
import { qrSvg } from './qr.ts';
import { paymentPath, walletHref } from './safe-url.ts';
import type { PaymentView, PayStep } from './view.ts';

/** Longer amounts are set smaller, so that no digit wraps on a phone of 320 px. */
const LONG_AMOUNT = 12;

/** What to send, where, on which network and until when; after a part has come, the rest of it. */
export function payCard(view: PaymentView, step: PayStep): Html {
  const { quote } = step;
  const partly = step.receivedUnits > 0n;
  const digits = formatDecimal(step.missingUnits, quote.decimals);
  const wallet = walletHref(step.paymentUri);
  return html`${statusHeading(
      partly ? 'attention' : 'waiting',
      partly ? 'A part has arrived: please send the rest' : 'Waiting for your payment',
      html`<strong>${timeLeft(view.payUntilAt, view.now)}</strong> left: pay before
        ${utcTime(view.payUntilAt, view.now)}.`,
    )}
    ${partly && partial(step)}
    <div class="pay">
      <div class="what">
        <p class="label">${partly ? 'Still to send, exactly' : 'Send exactly'}</p>
        <p class="amount">
          <span class="digits${digits.length > LONG_AMOUNT && ' long'}" data-amount="${digits}">${digits}</span>
          <span class="unit">${quote.asset}</span>
        </p>
        <p class="network">
          <span class="label">Network</span> <strong>${networkLabel(quote.asset, quote.network)}</strong>
        </p>
        <p class="warning">${networkWarning(view, step)}</p>
        ${wallet && html`<a class="button" href="${wallet}">Open in your wallet</a>`}
      </div>
      <div class="where">
        <p class="label">To this ${networkLabel(quote.asset, quote.network)} address</p>
        <p class="address" data-address="${quote.address}">${grouped(quote.address)}</p>
        <p class="hint">
          Tap or click the address or the amount to select it whole, then copy. Compare the first and last groups in
          your wallet.
        </p>
      </div>
      <figure class="code">
        ${qrCode(view, step, digits)}
        <figcaption>${view.test ? 'Test code, not for real wallets' : 'Scan with your wallet'}</figcaption>
      </figure>
    </div>
    ${step.canChangeToken && html`<p class="actions"><a class="button quiet" href="${paymentPath(view.paymentId)}?choose=token">Choose another token</a></p>`}
    ${step.canCancel && cancelForm(view.paymentId)}`;
}

function partial(step: PayStep): Html {
  return facts([
    ['Asked for', formatCrypto(step.quote.owedUnits, step.quote)],
    ['Received so far', formatCrypto(step.receivedUnits, step.quote)],
    ['Still missing', html`<strong>${formatCrypto(step.missingUnits, step.quote)}</strong>`],
  ]);
}

function networkWarning(view: PaymentView, { quote }: PayStep): Html {
  if (view.test) {
    return html`<strong>Do not send anything.</strong> This address is made up for the test: what is sent to it is lost
      for ever.`;
  }
  const { asset, network } = quote;
  return html`Send only <strong>${asset}</strong> and only on <strong>${networkLabel(asset, network)}</strong>. Another
    coin, or ${asset} on another network, may be lost.`;
}

/**
 * Without a payment URI the code holds the bare address, which every wallet reads. Not in test mode: a wallet would offer to
 * send real money to an address that nobody has the key of.
 */
function qrCode(view: PaymentView, { quote, paymentUri }: PayStep, digits: string): Html {
  const token = tokenLabel(quote.asset, quote.network);
  const bare = view.test ? `Test payment, send nothing: ${digits} ${token} to ${quote.address}` : quote.address;
  return qrSvg(paymentUri ?? bare, {
    id: 'qr',
    title: `QR code to pay ${digits} ${token}`,
    description: `For the camera of a phone's wallet. It holds the ${assetName(quote.asset)} address${paymentUri === null ? '' : ' and the amount'} that this page shows as text.`,
  });
}
