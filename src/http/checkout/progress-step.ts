import { formatCrypto, grouped, networkName } from './format.ts';
import { html, type Html } from './html.ts';
import { cancelForm } from './cancel-form.ts';
import { facts, statusHeading } from './layout.ts';
import type { Confirmations, PaidFacts, PaymentView } from './view.ts';

/** The money is on its way; no block holds it yet. */
export function detectedCard(step: PaidFacts): Html {
  return html`${statusHeading(
    'waiting',
    'Payment detected',
    `Your payment was seen on the ${networkName(step.quote.network)} network. Next, a block has to take it in.`,
  )}
  ${paidFacts(step)} ${nothingToDo()}`;
}

/** Blocks are being built on top of the payment. */
export function confirmingCard(step: PaidFacts, confirmations: Confirmations | null): Html {
  return html`${statusHeading(
      'waiting',
      'Confirming your payment',
      confirmations
        ? `${confirmations.have} of ${confirmations.need} confirmations.`
        : 'It is in a block. The network is confirming it.',
    )}
    ${
      confirmations &&
      html`<p class="meter">
        <label for="confirmations">Confirmations</label>
        <progress id="confirmations" max="${confirmations.need}" value="${confirmations.have}">
          ${confirmations.have} of ${confirmations.need}
        </progress>
      </p>`
    }
    <p class="hint">Each confirmation is one more block on top of your payment, and makes it harder to undo.</p>
    ${paidFacts(step)} ${nothingToDo()}`;
}

/** Time is up and the chain is still read for a payment that was made in time. */
export function checkingCard(): Html {
  return html`${statusHeading('waiting', 'The time to pay is over', 'Checking whether a payment was made in time. This page will say.')}
    <p class="warning"><strong>Please send nothing now:</strong> it would arrive too late.</p>`;
}

/** A live project without a wallet. */
export function unavailableCard(view: PaymentView, canCancel: boolean): Html {
  return html`${statusHeading(
      'attention',
      'No way to pay yet',
      'The shop has not set up any coin that this payment can be made in.',
    )}
    <p>Please tell the shop. Nothing was charged, and you have nothing to send.</p>
    ${canCancel && cancelForm(view.paymentId)}`;
}

function paidFacts({ quote, receivedUnits, transactionHash }: PaidFacts): Html {
  return facts([
    ['Received', formatCrypto(receivedUnits, quote)],
    ['Network', networkName(quote.network)],
    ['Transaction', transactionHash === null ? null : grouped(transactionHash)],
  ]);
}

function nothingToDo(): Html {
  return html`<p class="hint">
    You have nothing more to do. You may close this page: the shop is told when the payment is complete.
  </p>`;
}
