import { ApiFault } from './api.ts';
import type { Translate } from './locale.tsx';
import { SignedOut } from './session.ts';

/** The error as a sentence: the server's message if there is one. */
export function problemText(error: unknown, t: Translate): string {
  if (!(error instanceof ApiFault)) return t('fault_unknown');
  if (error.type === 'offline') return t('fault_offline');
  if (error.type === 'broken_off') return t('fault_broken_off');
  if (error.message !== '') return sentence(error);
  return error.status >= 500 ? t('fault_server') : t('fault_unknown');
}

/** Why data could not be loaded: nothing was sent that the server could have saved, and no input can be lost. */
export function loadProblemText(error: unknown, t: Translate): string {
  if (!(error instanceof ApiFault)) return problemText(error, t);
  if (error.type === 'offline') return t('not_loaded_offline');
  return error.status >= 500 ? t('fault_server') : problemText(error, t);
}

/** The error's message if it is about this field, otherwise null. */
export function problemOf(error: unknown, param: string): string | null {
  return error instanceof ApiFault && error.param === param ? sentence(error) : null;
}

/** The message for the form as a whole; null if one of the fields in `params` shows it, or there is no error. */
export function problemOfForm(error: unknown, params: readonly string[], t: Translate): string | null {
  if (error === null || error === undefined) return null;
  if (error instanceof ApiFault && error.param !== null && params.includes(error.param)) return null;
  // People who cancelled it know why nothing happened.
  if (error instanceof ApiFault && error.type === 'reauthentication_required') return null;
  return problemText(error, t);
}

/**
 * The server names a field as in its API, at the beginning of the sentence: `current_password` is "Current password"
 * here.
 */
function sentence({ message, param }: ApiFault): string {
  const isNamed = param !== null && message.startsWith(`${param} `);
  const text = isNamed ? param.replaceAll('_', ' ') + message.slice(param.length) : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Whether a script of a page could not be fetched: the server was upgraded, or cannot be reached. */
export function isMissingScript(error: unknown): boolean {
  return error instanceof TypeError && /import|module/i.test(error.message);
}

/** Logs a script's fault. Errors that the page shows itself, such as a missing payment, are not logged. */
export function reportCaught(error: unknown): void {
  if (error instanceof ApiFault || error instanceof SignedOut || isMissingScript(error)) return;
  reportError(error);
}
