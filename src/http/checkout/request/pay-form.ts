import { html, type Html } from '../../pages/html.ts';
import { fiat, sentences } from '../language/format.ts';
import { pageHref, requestPath } from '../present.ts';
import { MAX_LENGTHS } from './form.ts';
import type { FieldName, FieldProblem, FormStep, RequestView } from './view.ts';

/** The form that makes an invoice: the amount if the payer chooses it, what the merchant asks for, and "Pay". */
export function payForm(view: RequestView, step: FormStep): Html {
  const { frame, currency, requestId } = view;
  const { locale } = frame;
  const amount = step.amountMinor;
  return html`<form class="claim" method="post" action="${pageHref(frame, requestPath(requestId, 'pay'))}">
    ${amount === null && field(view, step, 'amount')} ${step.asked.map((name) => field(view, step, name))}
    <button type="submit" class="button">
      <span
        >${amount === null ? locale.t('request_go_on') : locale.t('request_pay', { amount: fiat(locale, amount, currency) })}</span
      >
    </button>
  </form>`;
}

const ATTRIBUTES: Readonly<Record<Exclude<FieldName, 'note'>, Html>> = {
  amount: html`type="text" inputmode="decimal" dir="ltr" autocomplete="off" required`,
  email: html`type="email" dir="ltr" autocomplete="email" required`,
  name: html`type="text" dir="auto" autocomplete="name" required`,
};

function field(view: RequestView, step: FormStep, field: FieldName): Html {
  const problem = step.problems[field];
  const hint = field === 'amount' ? bounds(view, step) : null;
  const described = [problem !== undefined && `${field}-problem`, hint !== null && `${field}-hint`].filter(Boolean);
  const common = html`id="${field}" name="${field}" maxlength="${MAX_LENGTHS[field]}"
  ${described.length > 0 && html` aria-describedby="${described.join(' ')}"`}
  ${problem !== undefined && html` aria-invalid="true"`}`;
  const { locale } = view.frame;
  const label =
    field === 'amount' ? locale.t('request_amount', { currency: view.currency }) : locale.t(`request_${field}`);
  const typed = step.typed[field];
  return html`<div class="field">
    <label for="${field}">${label}</label>
    ${problem !== undefined && html`<p class="field-problem" id="${field}-problem" role="alert">${problemText(view, step, field, problem)}</p>`}
    ${
      field === 'note'
        ? html`<textarea ${common} rows="3" dir="auto">${typed}</textarea>`
        : html`<input ${common} ${ATTRIBUTES[field]} value="${typed}" />`
    }
    ${hint !== null && html`<p class="hint" id="${field}-hint">${hint}</p>`}
  </div>`;
}

/** The bounds of a typed amount; null if it has none. */
function bounds(view: RequestView, { minAmountMinor, maxAmountMinor }: FormStep): Html | null {
  if (minAmountMinor === null && maxAmountMinor === null) return null;
  return sentences(
    view.frame.locale,
    minAmountMinor !== null && bound(view, 'request_at_least', minAmountMinor),
    maxAmountMinor !== null && bound(view, 'request_at_most', maxAmountMinor),
  );
}

function bound({ frame: { locale }, currency }: RequestView, key: 'request_at_least' | 'request_at_most', of: bigint) {
  return locale.t(key, { amount: fiat(locale, of, currency) });
}

/** An amount that every payer can read as an example, with two places where the currency has them. */
const EXAMPLE_MINOR = 4_990n;

function problemText(view: RequestView, step: FormStep, field: FieldName, problem: FieldProblem): Html {
  const { locale } = view.frame;
  if (problem === 'too_long') return locale.t('request_too_long', { most: MAX_LENGTHS[field] });
  if (problem === 'too_little') return bound(view, 'request_at_least', step.minAmountMinor ?? 0n);
  if (problem === 'too_much') return bound(view, 'request_at_most', step.maxAmountMinor ?? 0n);
  if (field !== 'amount') return locale.t(field === 'email' ? 'request_email_invalid' : 'request_name_missing');
  const example = /\d[\d.,]*\d/.exec(locale.fiat(EXAMPLE_MINOR, view.currency))?.[0] ?? '';
  return locale.t('request_amount_invalid', { example: html`<bdi dir="ltr">${example}</bdi>` });
}
