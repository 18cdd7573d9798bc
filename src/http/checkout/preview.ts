import { allTokens } from '../../domain/asset.ts';
import type { Project } from '../../store/projects/projects.ts';
import type { Fiat } from '../../domain/money.ts';
import { blankPayment, NO_MERCHANT_FIELDS } from '../../domain/payment.ts';
import type { Assets } from '../pages/assets.ts';
import { ICON } from '../pages/icon.ts';
import { accentPath, iconOf } from './frame.ts';
import { NO_FACTS } from './show-payment.ts';
import { chooseLanguage } from './language/locale.ts';
import { renderPaymentPage } from './page.ts';
import { presentPaymentPage } from './present.ts';

interface Picture {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** The unsaved looks of a shop's pages. */
export interface PreviewedBranding extends Pick<
  Project,
  'name' | 'accent' | 'supportUrl' | 'pageText' | 'termsUrl' | 'imprintUrl'
> {
  readonly currency: Fiat;
  readonly logo: Picture | null;
  readonly icon: Picture | null;
}

/** An address that no wallet accepts, so that nobody pays it from a preview. */
const EXAMPLE_ADDRESS = 'bc1qexamp1eexamp1eexamp1eexamp1eexamp1exx';
const MINUTE_MS = 60_000;

/** Bitcoin, which every customer knows. */
function exampleToken() {
  const token = allTokens().find(({ asset }) => asset === 'BTC');
  if (token === undefined) throw new Error('The coin of the preview is in the table of assets.');
  return token;
}

/**
 * The markup of a payment page that asks for money, with a shop's unsaved changes, for a sandboxed frame: without a
 * script, and with links that open nothing there; and the picture of its tab, as a path or data.
 *
 * @param language `de`, or else English
 */
export function renderPreview(
  { name, accent, currency, icon, ...branding }: PreviewedBranding,
  language: string,
  assets: Pick<Assets, 'stylePath' | 'scriptPath'>,
  now: number,
): { readonly html: string; readonly icon: string } {
  const { asset, network, decimals } = exampleToken();
  const quote = {
    asset,
    network,
    decimals,
    owedUnits: 81_667n,
    toleranceUnits: 0n,
    address: EXAMPLE_ADDRESS,
  } as const;
  const payment = {
    ...blankPayment({
      ...NO_MERCHANT_FIELDS,
      id: '00000000-0000-7000-8000-000000000000',
      projectId: '00000000-0000-7000-8000-000000000000',
      mode: 'live',
      api: 'transaction',
      transactionNumber: null,
      merchantOrderId: 'A-1001',
      amountMinor: 4_900n,
      currency,
      amountUsdCents: 4_900n,
      createdAt: now,
      expiresAt: now + 30 * MINUTE_MS,
      lastSequence: 1,
    }),
    status: 'pending',
    quote,
  } as const;
  const view = presentPaymentPage(payment, {
    now,
    readAt: null,
    frame: {
      locale: chooseLanguage(language, undefined),
      languageGiven: false,
      branding: {
        ...branding,
        projectName: name,
        accentPath: accent && accentPath(accent),
        iconPath: null,
      },
      embed: null,
      autoRefresh: true,
      watching: false,
    },
    ...NO_FACTS,
    tokens: [{ asset, network }],
    evm: null,
    explorer: null,
    monitoringMs: 0,
    payable: true,
    wantsOtherToken: false,
    notice: null,
    returnsToShop: true,
  });
  const tabIcon = iconOf(icon, branding.logo);
  return { html: inert(renderPaymentPage(view, assets).html), icon: tabIcon?.path ?? ICON };
}

/** Makes the page inert: without scripts, and without the parts for browsers without scripts; links open nothing. */
function inert(markup: string): string {
  return (
    markup
      .replaceAll(/<noscript>.*?<\/noscript>/gs, '')
      .replaceAll(/<script\b.*?<\/script>/gs, '')
      // The missing script would show the buttons.
      .replaceAll('class="copy" hidden', 'class="copy"')
      .replace(/<link rel="icon"[^>]*>/, '')
      .replace('<head>', '<head><base target="_blank" />')
  );
}
