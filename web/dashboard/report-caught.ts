import { ApiFault } from './api.ts';
import { SignedOut } from './session.ts';

/** An answer that the page shows, such as that there is no such payment, is no fault of a script to log. */
export function reportCaught(error: unknown): void {
  if (error instanceof ApiFault || error instanceof SignedOut) return;
  reportError(error);
}
