import { html, type Html } from '../pages/html.ts';
import type { PaymentView } from './view.ts';

/** How much time is left to pay; the script makes it tick. */
export function timeLeft({ frame: { locale }, payUntilAt, now }: PaymentView): Html {
  return html`<p class="clock">
    <span class="clock-left"
      >${locale.t('time_left')}
      <strong data-countdown="${payUntilAt}">${locale.duration(payUntilAt - now)}</strong></span
    >
    <span class="clock-until">${locale.t('pay_before', { time: locale.time(payUntilAt, now) })}</span>
  </p>`;
}
