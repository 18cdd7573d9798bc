import { name } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import type { PaymentView } from './view.ts';

/** What to say to the shop. A transaction's number is not broken at its hyphens where a line has room for all of it. */
export function contactShop({ frame, transactionNumber, paymentId }: PaymentView): Html {
  const payment = transactionNumber === null ? name(paymentId) : html`<bdi class="whole">${transactionNumber}</bdi>`;
  return frame.locale.t('contact_shop', { payment });
}

/** In the card, where the customer is asked to contact the shop. */
export function supportLink({ frame: { locale, branding } }: PaymentView): Html | null {
  const { supportUrl } = branding;
  if (supportUrl === null) return null;
  return html`<p>
    <a class="button quiet" href="${supportUrl}" rel="noreferrer" target="_blank"
      ><span>${locale.t('support')}</span></a
    >
  </p>`;
}
