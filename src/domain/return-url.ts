/** `{InvoiceId}` and `{OrderId}` in a URL, also as plugins send them inside a query: `%7BInvoiceId%7D`. */
const PLACEHOLDER = /(?:\{|%7B)(InvoiceId|OrderId)(?:\}|%7D)/gi;

/** A shop's return URL with the ids of the invoice and of the order in place of their placeholders. */
export function filledReturnUrl(url: string, invoiceId: string, orderId: string | null): string {
  return url.replaceAll(PLACEHOLDER, (_whole, name: string) =>
    encodeURIComponent(name.toLowerCase() === 'invoiceid' ? invoiceId : (orderId ?? '')),
  );
}
