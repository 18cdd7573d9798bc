import { assetName, formatCrypto, formatFiat, grouped, networkLabel, utcDateTime } from './format.ts';
import { html, type Html } from './html.ts';
import { facts, renderDocument, shopHeader, statusHeading, testBand, theirs, type Refresh } from './layout.ts';
import type { Page, RefundStep, RefundView } from './view.ts';

/** Longer than any address there is; the check itself is the server's. */
const MAX_ADDRESS_LENGTH = 128;

/** How soon a page that waits for a refund looks again: the sandbox pays after 10 seconds, shops within days. */
const WAITING_SECONDS = { test: 5, live: 60 } as const;

/** The page where a customer says where a refund shall go. Status 200; 400 when the typed address was refused. */
export function renderRefundPage(view: RefundView): Page {
  const { step } = view;
  return renderDocument({
    status: step.kind === 'form' && step.problem !== null ? 400 : 200,
    title: `${TITLES[step.kind]} · ${view.projectName}`,
    test: view.mode === 'test',
    refresh: refreshOf(view),
    band:
      view.mode === 'test'
        ? testBand(html`No real money. Refunds settle by themselves some seconds after they were made.`)
        : null,
    header: shopHeader(view.projectName),
    main: html`<div class="layout">
      <section class="summary">
        <h1>
          <span class="label">Refund of</span> <span class="fiat">${formatFiat(view.amountMinor, view.currency)}</span>
          <span class="unit">${view.currency}</span>
        </h1>
        ${facts([
          ['From', theirs(view.projectName)],
          ['You get', formatCrypto(view.units, view)],
          ['Network', networkLabel(view.asset, view.network)],
        ])}
      </section>
      <section class="card" aria-labelledby="status-title">${card(view)}</section>
    </div>`,
    footer: html`<p>
      All times are in UTC. The address of this page is private: whoever has it can claim the refund.
    </p>`,
  });
}

const TITLES: Readonly<Record<RefundStep['kind'], string>> = {
  form: 'Claim your refund',
  waiting: 'Refund on its way',
  completed: 'Refunded',
  failed: 'Refund failed',
};

function refreshOf({ step, mode, claimPath }: RefundView): Refresh | null {
  return step.kind === 'waiting' ? { seconds: WAITING_SECONDS[mode], path: claimPath } : null;
}

function card(view: RefundView): Html {
  const { step } = view;
  switch (step.kind) {
    case 'form':
      return claimForm(view, step);
    case 'waiting':
      return html`${statusHeading('waiting', 'Your refund is on its way', html`${theirs(view.projectName)} will send it to your address.`)}
        ${facts([['Your address', grouped(step.address)]])}
        <p class="hint">
          The shop pays it from its own wallet, which can take some days. Is the address wrong? Tell the shop at once.
        </p>`;
    case 'completed':
      return html`${statusHeading('done', 'Your refund was sent', `${formatCrypto(view.units, view)} went to your address.`)}
      ${facts([
        ['Your address', grouped(step.address)],
        ['Sent', utcDateTime(step.completedAt)],
        ['Transaction', step.transactionHash === null ? null : grouped(step.transactionHash)],
      ])}`;
    case 'failed':
      return html`${statusHeading('stopped', 'This refund will not be paid', 'It was cancelled or not paid in time.')}
        <p>Contact ${theirs(view.projectName)} about it: a new refund can be made.</p>`;
  }
}

function claimForm(view: RefundView, { typed, problem }: RefundStep & { kind: 'form' }): Html {
  const network = networkLabel(view.asset, view.network);
  return html`${statusHeading('plain', 'Where shall your refund go?', html`${theirs(view.projectName)} gives you back <strong>${formatCrypto(view.units, view)}</strong>.`)}
    <form method="post" action="${view.claimPath}" class="claim">
      <label for="address">Your ${assetName(view.asset)} (${view.asset}) address on ${network}</label>
      ${problem !== null && html`<p class="field-problem" id="address-problem" role="alert">${problem}</p>`}
      <input
        id="address"
        name="address"
        type="text"
        value="${typed}"
        required
        maxlength="${MAX_ADDRESS_LENGTH}"
        autocomplete="off"
        autocapitalize="none"
        autocorrect="off"
        spellcheck="false"
        aria-describedby="${problem === null ? '' : 'address-problem '}address-hint"
        ${problem !== null && html` aria-invalid="true"`}
      />
      <p class="warning" id="address-hint">
        It must be an address for <strong>${view.asset}</strong> on <strong>${network}</strong>, best from your own
        wallet. A payment to a wrong address cannot be called back.
      </p>
      <button type="submit" class="button">Send my refund there</button>
    </form>`;
}
