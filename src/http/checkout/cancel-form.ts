import { html, type Html } from './html.ts';
import { paymentPath } from './safe-url.ts';

/** Cancelling takes two steps: nobody ends a payment with a slip of the thumb. */
export function cancelForm(paymentId: string): Html {
  return html`<details class="cancel">
    <summary>Cancel this payment</summary>
    <form method="post" action="${paymentPath(paymentId, 'cancel')}">
      <p>Cancel only if you have not sent anything. Money that is on its way cannot be called back.</p>
      <button type="submit" class="button danger">Yes, cancel the payment</button>
    </form>
  </details>`;
}
