import { NewInvoiceDialog } from './new-invoice-dialog.tsx';
import { NewRequestDialog } from './new-request-dialog.tsx';

interface NewDialogProps {
  readonly of: 'request' | 'invoice';
  /** Shows a request on the page. */
  readonly onShow: (request: string) => void;
  readonly onClose: () => void;
}

/** Creates a payment request, alone or with an invoice. Both are in one script, which the page loads when asked. */
export function NewDialog({ of, ...props }: NewDialogProps) {
  return of === 'invoice' ? <NewInvoiceDialog {...props} /> : <NewRequestDialog {...props} />;
}
