import { faultOf, isRejected, refusalText, type RefusalCode, type Rejected } from '../../app/rejected.ts';
import { RequestError, type ErrorType } from '../errors.ts';

/** The request fields whose names differ from the use case's. */
const FIELDS: Readonly<Record<string, string>> = {
  allowIps: 'values',
  allowOrigins: 'values',
  days: 'older_than_days',
  descriptor: 'source',
  spreadBasisPoints: 'spread',
  toleranceBasisPoints: 'tolerance',
  treasury: 'source',
  xpub: 'source',
};

/** The fields that pages name differently than requests. */
const LABELS: Readonly<Record<string, string>> = {
  accent: 'The colour',
  days: 'The number of days',
  defaultCurrency: 'The currency',
  defaultExpiryMinutes: 'The time to pay',
  defaultSuccessUrl: 'The address after payment',
  email: 'The e-mail address',
  name: 'The name',
  supportUrl: 'The support link',
};

/** The ways out that pages offer, after the sentences of `app/rejected.ts`. */
const WAYS_OUT: Readonly<Partial<Record<RefusalCode, string>>> = {
  accent: 'Leave it empty for the usual one.',
  currency: 'Or choose none.',
  deactivated: 'Invite them again.',
  endpoint_disabled: 'Enable it first.',
  endpoint_paused: 'Enable it first.',
  expiry: 'Leave it empty for the usual 30.',
  has_account: 'Find them in the list to give them another role or a new link.',
  last_owner: 'Make another person owner first.',
  no_delivery: 'Deliveries are deleted after 90 days.',
  no_endpoint: 'It may have been deleted.',
  no_project: 'Choose another one in the menu at the top.',
  success_url: 'Leave it empty to have none.',
  support_url: 'Leave it empty to show none.',
};

const TYPES = {
  malformed: 'invalid_request_error',
  missing: 'not_found_error',
  conflict: 'conflict_error',
  forbidden: 'permission_error',
  refused: 'invalid_request_error',
} as const satisfies Record<ReturnType<typeof faultOf>, ErrorType>;

/** The answer to a request that a use case refused; `field` is to blame if the refusal names no value. */
export function refusalError(refusal: Rejected, field: string | null = null): RequestError {
  const { code, param = '' } = refusal;
  const ownField = FIELDS[param] ?? param.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  const text = refusalText(refusal, LABELS[param] ?? ownField, WAYS_OUT[code]);
  return new RequestError(TYPES[faultOf(refusal)], text, { param: param === '' ? field : ownField });
}

/** The outcome if it is no refusal. @throws RequestError with the refusal */
export function done<Outcome extends { readonly kind: string }>(
  outcome: Outcome,
  field: string | null = null,
): Exclude<Outcome, Rejected> {
  if (isRejected(outcome)) throw refusalError(outcome, field);
  return outcome as Exclude<Outcome, Rejected>;
}
