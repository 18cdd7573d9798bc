import type { DeliveryView } from '../../../../src/http/dashboard/deliveries/contract.ts';
import type { TextKey } from '../../texts/parts.ts';

type HintKey = Extract<TextKey<'webhooks'>, `hint_${string}`>;

export interface Hint {
  readonly text: HintKey;
  /** Whether code that checks the signature helps. */
  readonly isSignature?: true;
}

/** The usual cause for the latest attempt of a delivery that did not arrive; null if there is none. */
export function hintOf({
  state,
  next_attempt_at: next,
  endpoint_state: endpoint,
  attempts: [latest],
}: Pick<DeliveryView, 'state' | 'next_attempt_at' | 'endpoint_state' | 'attempts'>): Hint | null {
  if (state === 'overtaken') return { text: 'hint_overtaken' };
  if (state === 'waiting' && next === null && endpoint === 'on') return { text: 'hint_held' };
  if (state === 'delivered' || latest === undefined) return null;
  if (latest.status !== null) return hintOfStatus(latest.status);
  switch (latest.error_stage) {
    case 'guard':
      return { text: 'hint_guard' };
    case 'resolve':
      return { text: 'hint_resolve' };
    case 'connect':
      return { text: 'hint_connect' };
    case 'tls':
      return { text: 'hint_tls' };
    case 'timeout':
      return { text: 'hint_timeout' };
    default:
      return { text: 'hint_response' };
  }
}

function hintOfStatus(status: number): Hint | null {
  if (status >= 200 && status < 300) return null;
  if (status >= 300 && status < 400) return { text: 'hint_redirect' };
  switch (status) {
    case 401:
    case 403:
      return { text: 'hint_signature', isSignature: true };
    case 400:
    case 422:
      return { text: 'hint_refused', isSignature: true };
    case 404:
      return { text: 'hint_not_found' };
    case 405:
      return { text: 'hint_method' };
    case 410:
      return { text: 'hint_gone' };
    case 429:
      return { text: 'hint_too_many' };
    default:
      return { text: status >= 500 ? 'hint_server' : 'hint_refused' };
  }
}
