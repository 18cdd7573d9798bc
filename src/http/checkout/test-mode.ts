import { html, type Html } from '../pages/html.ts';
import { pageHref, paymentPath } from './links.ts';
import { once, type Locale, type TextKey } from './locale.ts';
import type { PaymentView, TestProgress } from './view.ts';

/** What test mode does with a payment automatically. */
export function testText({ frame: { locale }, now }: PaymentView, test: TestProgress): Html {
  switch (test.kind) {
    case 'completes':
      return locale.t('test_completes', { time: locale.time(test.at, now) });
    case 'expires':
      return locale.t('test_expires', { time: locale.time(test.at, now) });
    case 'by_hand':
      return locale.t('test_by_hand');
    case 'ended':
      return locale.t('test_ended');
  }
}

/** What a customer of the sandbox can simulate. */
const STEPS = ['paid', 'part', 'over', 'late', 'failed', 'expired'] as const;

/** Buttons that advance a test payment, as long as there is a next step. */
export function simulations({ frame, paymentId }: PaymentView, test: TestProgress): Html | null {
  if (test.kind === 'ended') return null;
  const { locale } = frame;
  return html`<form class="simulate" method="post" action="${pageHref(frame, paymentPath(paymentId, 'simulate'))}">
    ${buttons(locale)}
  </form>`;
}

const buttons = once((locale: Locale) => {
  const title = (step: (typeof STEPS)[number]) => locale.t(`simulate_${step}` satisfies TextKey);
  return html`<span class="simulate-label">${locale.t('simulate')}</span>
    ${STEPS.map((step) => html`<button type="submit" name="outcome" value="${step}">${title(step)}</button>`)}`;
});
