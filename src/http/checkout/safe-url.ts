import { URI_SCHEMES } from '../../domain/payment-uri.ts';

const WALLET_SCHEMES: ReadonlySet<string> = new Set(URI_SCHEMES.map((scheme) => `${scheme}:`));

/**
 * The link back to the shop: the merchant's URL with `payment_id` appended to its query. Null for anything but an
 * absolute http or https URL, so that `javascript:` and the like never become a link. The rest of the query is
 * unchanged, because shops may sign it.
 */
export function shopHref(url: string | null, paymentId: string): string | null {
  const parsed = url === null ? null : URL.parse(url);
  if (parsed?.protocol !== 'https:' && parsed?.protocol !== 'http:') return null;
  const parameter = `payment_id=${encodeURIComponent(paymentId)}`;
  parsed.search = parsed.search === '' ? `?${parameter}` : `${parsed.search}&${parameter}`;
  return parsed.href;
}

/** A payment URI as a link; null if its scheme is not one of ours. */
export function walletHref(uri: string | null): string | null {
  const parsed = uri === null ? null : URL.parse(uri);
  return parsed && WALLET_SCHEMES.has(parsed.protocol) ? uri : null;
}
