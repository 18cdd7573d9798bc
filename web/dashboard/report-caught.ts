import { ApiFault } from './api.ts';
import { SignedOut } from './session.ts';

/** Whether a script of a page could not be fetched: the server was upgraded, or cannot be reached. */
export function isMissingScript(error: unknown): boolean {
  return error instanceof TypeError && /import|module/i.test(error.message);
}

/** What the page says itself, such as that there is no such payment, is no fault of a script to log. */
export function reportCaught(error: unknown): void {
  if (error instanceof ApiFault || error instanceof SignedOut || isMissingScript(error)) return;
  reportError(error);
}
