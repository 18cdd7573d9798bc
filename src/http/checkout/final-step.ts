import { formatCrypto, formatFiat, grouped, networkName, utcDateTime } from './format.ts';
import { html, type Html } from './html.ts';
import { facts, statusHeading, theirs } from './layout.ts';
import { shopHref } from './safe-url.ts';
import type { ClosedStep, CompletedStep, PaymentView, QuoteView } from './view.ts';

/** Paid: the receipt, and the way back to the shop. */
export function completedCard(view: PaymentView, step: CompletedStep): Html {
  const { quote } = step;
  return html`${statusHeading('done', 'Payment complete', html`${theirs(view.projectName)} has your payment. Thank you.`)}
    ${unusual(step)}
    <section class="receipt" aria-labelledby="receipt-title">
      <h3 id="receipt-title">Receipt</h3>
      ${facts([
        ['Paid to', theirs(view.projectName)],
        ['For', view.description && theirs(view.description)],
        ['Amount', `${formatFiat(view.amountMinor, view.currency)} ${view.currency}`],
        ['Paid', quote && formatCrypto(step.receivedUnits, quote)],
        ['Network', quote && networkName(quote.network)],
        ['Completed', utcDateTime(step.completedAt)],
        ['Order', view.merchantOrderId && theirs(view.merchantOrderId)],
        ['Payment', view.transactionNumber ?? view.paymentId],
        ['Transaction', step.transactionHash === null ? null : grouped(step.transactionHash)],
        ['Test', view.test && 'No real money moved'],
      ])}
    </section>
    ${backToShop(view, view.successUrl, 'primary')}`;
}

function unusual({ exception, quote, receivedUnits }: CompletedStep): Html | null {
  switch (exception) {
    case 'none':
      return null;
    case 'overpaid':
      return (
        quote &&
        html`<p class="note">
          You paid ${formatCrypto(receivedUnits - quote.owedUnits, quote)} more than was asked. The shop sees it: ask
          there for a refund of the excess.
        </p>`
      );
    case 'underpaid':
      return (
        quote &&
        html`<p class="note">
          Less than the ${formatCrypto(quote.owedUnits, quote)} asked for arrived. The shop accepted it as it is.
        </p>`
      );
    case 'paid_late':
      return html`<p class="note">Your payment came after its time had run out. The shop accepted it.</p>`;
    case 'reorged':
      return html`<p class="note">
        The network has since taken back the block with your payment. It usually returns by itself; the shop has been
        told.
      </p>`;
  }
}

/** Ended without being paid in full and in time; says what happens to money that did arrive. */
export function closedCard(view: PaymentView, step: ClosedStep): Html {
  const { title, text } = step.paidLate ? LATE : CLOSED[step.outcome];
  const { quote } = step;
  const arrived = step.receivedUnits > 0n;
  return html`${statusHeading(arrived ? 'attention' : 'stopped', title, text)}
  ${
    quote &&
    arrived &&
    html`${received(step, quote)}
      <p class="note">
        ${step.outcome === 'unconfirmed' && !step.paidLate ? UNCONFIRMED_MONEY : ARRIVED_MONEY} Contact the shop and
        name the payment
        <strong>${view.transactionNumber ?? view.paymentId}</strong>.
      </p>`
  }
  ${!arrived && html`<p>Please send nothing any more for this payment. To buy after all, start again in the shop.</p>`}
  ${backToShop(view, view.cancelUrl, 'quiet')}`;
}

const ARRIVED_MONEY = 'Your money is not lost: the shop can accept it as payment or send it back.';
const UNCONFIRMED_MONEY =
  'Look in your wallet: the money may be there again. If it still arrives, the shop can accept it as payment or send it back.';

const LATE = { title: 'Your payment arrived late', text: 'It came after the time to pay had run out.' };

const CLOSED: Readonly<Record<ClosedStep['outcome'], { readonly title: string; readonly text: string }>> = {
  expired: { title: 'This payment has expired', text: 'The time to pay ran out before a payment was seen.' },
  cancelled: { title: 'This payment was cancelled', text: 'Nothing will be charged.' },
  underpaid: { title: 'This payment failed', text: 'Only a part of the amount arrived before the time ran out.' },
  unconfirmed: {
    title: 'This payment failed',
    text: 'It was seen on the network, but the network never confirmed it.',
  },
};

function received(step: ClosedStep, quote: QuoteView): Html {
  return facts([
    ['Asked for', formatCrypto(quote.owedUnits, quote)],
    ['Received', formatCrypto(step.receivedUnits, quote)],
    ['Network', networkName(quote.network)],
    ['Transaction', step.transactionHash === null ? null : grouped(step.transactionHash)],
  ]);
}

/** Only final states have it: before, the shop could take a visitor for a payer. It proves nothing even then. */
function backToShop(view: PaymentView, url: string | null, weight: 'primary' | 'quiet'): Html {
  const href = shopHref(url, view.paymentId);
  if (href === null) return html`<p class="hint">You can close this page now.</p>`;
  return html`<p class="actions">
    <a class="button ${weight}" href="${href}">Back to ${theirs(view.projectName)}</a>
  </p>`;
}
