import { crypto } from './format.ts';
import { html, type Html } from '../pages/html.ts';
import { pageHref } from './links.ts';
import type { PaymentView, RefundNews } from './view.ts';

/** What happens to money that the shop refunds; the claim page is linked from the payment it belongs to. */
export function refundNews(view: PaymentView): readonly Html[] {
  return view.refunds.map((refund) => newsOf(view, refund));
}

function newsOf({ frame }: PaymentView, refund: RefundNews): Html {
  const { locale } = frame;
  const amount = crypto(refund.units, refund);
  const path = pageHref(frame, refund.path);
  switch (refund.state) {
    case 'offered':
      return html`<section class="offer">
        <h3>${locale.t('refund_offer_title')}</h3>
        <p>${locale.t('refund_offer_text', { amount })}</p>
        <p class="actions"><a class="button" href="${path}">${locale.t('refund_offer_link')}</a></p>
      </section>`;
    case 'sending':
      return html`<p class="note">${locale.t('refund_sending', { amount })}</p>`;
    case 'sent':
      return html`<p class="note">${locale.t('refund_was_sent', { amount })}</p>`;
  }
}
