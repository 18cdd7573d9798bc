import { NETWORK_FACTS } from '../../../domain/networks.ts';
import { cancelForm, transactionFact } from './parts.ts';
import { crypto, networkName, sentences } from '../language/format.ts';
import { html, type Html } from '../../pages/html.ts';
import { facts, statusHeading } from '../layout.ts';
import type { Confirmations, PaidFacts, PaymentView, UnavailableStep } from '../view.ts';

/** The money is on its way, but not in a block yet. */
export function detectedCard(view: PaymentView, step: PaidFacts): Html {
  const { locale } = view.frame;
  const { network } = step.quote;
  const text = sentences(
    locale,
    locale.t('detected_text', { network: networkName(network) }),
    locale.t('usually_takes', { time: locale.duration(NETWORK_FACTS[network].blockMs) }),
  );
  return html`${statusHeading('waiting', locale.t('detected_title'), text)} ${paidFacts(view, step)}
  ${nothingToDo(view)}`;
}

/** Blocks are being built on top of the payment. */
export function confirmingCard(view: PaymentView, step: PaidFacts, confirmations: Confirmations | null): Html {
  const { locale } = view.frame;
  return html`${statusHeading('waiting', locale.t('confirming_title'), locale.t('confirming_text'))}
    ${
      confirmations &&
      html`<div class="meter">
        <label for="confirmations">${locale.t('confirmations', confirmations)}</label>
        <progress id="confirmations" max="${confirmations.need}" value="${confirmations.have}"></progress>
        <p class="hint">${whenDone(view, step, confirmations)}</p>
      </div>`
    }
    <p class="hint">${locale.t('confirming_means')}</p>
    ${paidFacts(view, step)} ${nothingToDo(view)}`;
}

const MINUTE_MS = 60_000;

/** The expected time, from the network's average; omitted for blocks of seconds, for which nobody waits. */
function whenDone({ frame: { locale }, now }: PaymentView, { quote }: PaidFacts, { have, need }: Confirmations): Html {
  const { blockMs } = NETWORK_FACTS[quote.network];
  const leftMs = blockMs * Math.max(0, need - have);
  const doneAt = Math.ceil((now + leftMs) / MINUTE_MS) * MINUTE_MS;
  return sentences(
    locale,
    blockMs >= MINUTE_MS && locale.t('each_takes', { time: locale.duration(blockMs) }),
    locale.t('usually_done', { time: locale.time(doneAt, now) }),
  );
}

/** The payment has expired, and the chain is still being read for money sent in time. */
export function checkingCard({ frame: { locale } }: PaymentView): Html {
  return html`${statusHeading('waiting', locale.t('checking_title'), locale.t('checking_text'))}
    <p class="warning">${locale.t('checking_hint')}</p>`;
}

/** For a live project without a wallet, or one that was deactivated. */
export function unavailableCard(view: PaymentView, { why, canCancel }: UnavailableStep): Html {
  const { locale } = view.frame;
  const words = why === 'inactive' ? 'inactive' : 'unavailable';
  return html`${statusHeading('attention', locale.t(`${words}_title`), locale.t(`${words}_text`))}
    <p>${locale.t(`${words}_hint`)}</p>
    ${canCancel && cancelForm(view)}`;
}

function paidFacts({ frame: { locale } }: PaymentView, { quote, receivedUnits, transactionHash }: PaidFacts): Html {
  return facts([
    [locale.t('received'), crypto(receivedUnits, quote)],
    [locale.t('network'), networkName(quote.network)],
    [locale.t('transaction'), transactionFact(locale, { hash: transactionHash, explorer: quote.explorer })],
  ]);
}

function nothingToDo({ frame: { locale } }: PaymentView): Html {
  return html`<p class="hint">${locale.t('nothing_to_do')}</p>`;
}
