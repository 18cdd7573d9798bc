import { html, type Html } from '../pages/html.ts';
import { pageHref, paymentPath } from './links.ts';
import type { PaymentView } from './view.ts';

/** Cancelling takes two steps, so that nobody cancels a payment by accident. */
export function cancelForm({ frame, paymentId }: PaymentView): Html {
  const { locale } = frame;
  return html`<details class="cancel" id="cancel">
    <summary>${locale.t('cancel')}</summary>
    <form method="post" action="${pageHref(frame, paymentPath(paymentId, 'cancel'))}">
      <p>${locale.t('cancel_text')}</p>
      <button type="submit" class="button danger">${locale.t('cancel_yes')}</button>
    </form>
  </details>`;
}
