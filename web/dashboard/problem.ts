import { ApiFault } from './api.ts';
import type { Translate } from './locale.tsx';

/** What went wrong, as a sentence: the server's own where it has one. */
export function problemText(error: unknown, t: Translate): string {
  if (!(error instanceof ApiFault)) return t('fault_unknown');
  if (error.type === 'offline') return t('fault_offline');
  if (error.message !== '') return sentence(error);
  return error.status >= 500 ? t('fault_server') : t('fault_unknown');
}

/** What is wrong with one field; null where the error is of another, or of none. */
export function problemOf(error: unknown, param: string): string | null {
  return error instanceof ApiFault && error.param === param ? sentence(error) : null;
}

/** What went wrong with the form as a whole; null where a field named in `params` shows it, or nothing is wrong. */
export function problemOfForm(error: unknown, params: readonly string[], t: Translate): string | null {
  if (error === null || error === undefined) return null;
  if (error instanceof ApiFault && error.param !== null && params.includes(error.param)) return null;
  // Who was asked for a proof and gave none knows why nothing happened.
  if (error instanceof ApiFault && error.type === 'proof_required') return null;
  return problemText(error, t);
}

/** The server names a field as its API does, which begins a sentence: `current_password` is "Current password" here. */
function sentence({ message, param }: ApiFault): string {
  const isNamed = param !== null && message.startsWith(`${param} `);
  const text = isNamed ? param.replaceAll('_', ' ') + message.slice(param.length) : message;
  return text.charAt(0).toUpperCase() + text.slice(1);
}
