import { html, type Html } from '../pages/html.ts';
import { pageHref, paymentPath } from './links.ts';
import type { PaymentView, TestProgress } from './view.ts';

/** What test mode does with a payment automatically. */
export function testText({ frame: { locale }, now }: PaymentView, test: TestProgress): Html {
  switch (test.kind) {
    case 'completes':
      return locale.t('test_completes', { time: locale.time(test.at, now) });
    case 'expires':
      return locale.t('test_expires', { time: locale.time(test.at, now) });
    case 'walks':
      return locale.t('test_walks', { time: locale.time(test.at, now) });
    case 'by_hand':
      return locale.t('test_by_hand');
    case 'ended':
      return locale.t('test_ended');
  }
}

/** Long enough to be read, short enough to be waited for. */
const STAGE_SECONDS = 3;

/** Takes a test payment further, as long as there is a next step. */
export function simulations({ frame, paymentId }: PaymentView, { simulations: possible }: TestProgress): Html | null {
  if (possible.length === 0) return null;
  const { locale } = frame;
  return html`<form class="simulate" method="post" action="${pageHref(frame, paymentPath(paymentId, 'simulate'))}">
    <label class="unseen" for="outcome">${locale.t('simulate')}</label>
    <select id="outcome" name="outcome">
      ${possible.map((one) => html`<option value="${one}">${locale.t(`simulate_${one}`)}</option>`)}
    </select>
    <label><input type="checkbox" name="stages" value="${STAGE_SECONDS}" /> ${locale.t('simulate_stages')}</label>
    <button type="submit">${locale.t('simulate')}</button>
  </form>`;
}
