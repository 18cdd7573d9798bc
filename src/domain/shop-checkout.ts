import { coinOfMethod } from './payment-method.ts';

/** How a shop wants the page of its invoice. */
export interface PageWishes {
  /** The code of the page's language, such as `de`, for visitors who have not chosen one; null: the browser's. */
  readonly language: string | null;
  /** Whether the page may return to the shop automatically. */
  readonly returnsToShop: boolean;
  /** The asset or coin that comes first, as in `coins` of invoices; null: the usual order. */
  readonly firstCoin: string | null;
}

/** The page of a payment whose shop wishes nothing. */
export const NO_WISHES: PageWishes = { language: null, returnsToShop: true, firstCoin: null };

/**
 * The wishes in `checkout`, the JSON text that a shop's plugin sent with its invoice; null: no plugin made the payment.
 * Plugins send these members unasked, so a wish that does not fit is ignored.
 */
export function wishesOf(checkout: string | null): PageWishes {
  if (checkout === null) return NO_WISHES;
  const { defaultLanguage, redirectAutomatically, defaultPaymentMethod } = JSON.parse(checkout);
  return {
    language: typeof defaultLanguage === 'string' ? languageOf(defaultLanguage) : null,
    returnsToShop: redirectAutomatically !== false,
    firstCoin: typeof defaultPaymentMethod === 'string' ? coinOfMethod(defaultPaymentMethod) : null,
  };
}

/** `de` of `de-DE`, or of `de_DE` as WordPress and Magento write it. */
function languageOf(tag: string): string | null {
  return /^[a-z]{2,3}(?=[-_]|$)/i.exec(tag.trim())?.[0].toLowerCase() ?? null;
}
