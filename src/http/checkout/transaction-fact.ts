import { transactionPage } from '../../domain/networks.ts';
import { html, type Html } from '../pages/html.ts';
import { copyButton } from './copy-button.ts';
import { grouped } from './format.ts';
import type { Locale } from './locale.ts';

/**
 * A transaction's hash for a list of facts, to be compared, copied and followed in a block explorer; null without one.
 */
export function transactionFact(
  locale: Locale,
  { hash, explorer }: { readonly hash: string | null; readonly explorer: string | null },
): Html | null {
  if (hash === null) return null;
  return html`${grouped(hash)}
    <span class="fact-actions"
      >${copyButton(hash, locale.plain('copy_transaction'))}
      ${explorer && html`<a href="${transactionPage(explorer, hash)}" rel="noreferrer" target="_blank">${locale.t('view_on', { site: new URL(explorer).host })}</a>`}</span
    >`;
}
