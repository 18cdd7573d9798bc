import { faultOf, namesParam, refusalText, type RefusalCode, type Rejected } from '../app/rejected.ts';

/** The options of commands that are not called as the use case calls their value. */
const OPTIONS: Readonly<Record<string, string>> = {
  days: '--older-than',
  defaultExpiryMinutes: '--default-expiry',
  off: '--coins-off',
  order: '--coin-order',
  spreadBasisPoints: '--spread',
  toleranceBasisPoints: '--tolerance',
};

/** The ways out that commands offer, after the sentences of `app/rejected.ts`. */
const WAYS_OUT: Readonly<Partial<Record<RefusalCode, string>>> = {
  accent: 'Put it in quotes, since a shell takes # for a comment; none takes it away.',
  currency: 'None takes it away.',
  deactivated: 'Invite them again with: cointill user invite --email {email} --role ROLE',
  endpoint_disabled: 'Enable it first with: cointill webhook enable',
  endpoint_paused: 'Resume it first with: cointill webhook enable',
  expiry: 'None takes it away.',
  has_account:
    'Give another role with: cointill user role {email} --role ROLE. A new link, with a new password: cointill user reset {email}',
  last_owner: 'Make another person owner first, with: cointill user role EMAIL --role owner',
  no_delivery: 'List them with: cointill webhook deliveries ENDPOINT_ID',
  no_email: 'List everybody with: cointill user list',
  no_endpoint: 'List them with: cointill webhook list',
  no_key: 'List them with: cointill key list',
  no_lost_money: 'List what there is with: cointill network status',
  no_price: 'Give it for this command: FIXED_RATES={currency}=1.10',
  no_project: 'List them with: cointill project list',
  no_refund: 'Its id begins with re_; list them with: GET /v1/refunds',
  no_wallet: 'Set one with: cointill wallet set --network {network}',
  shared_wallet: 'Say whose payment it is: --project ID',
  success_url: 'None takes it away.',
  support_url: 'None takes it away.',
};

/** Why a use case refused a command, naming its options. */
export function refusalMessage(refusal: Rejected): string {
  const { code, param = '' } = refusal;
  const option = OPTIONS[param] ?? `--${param.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const text = refusalText(refusal, option, WAYS_OUT[code]);
  return param === '' || namesParam(refusal) ? text : `${option}: ${text}`;
}

/** Whether a typed value is invalid by itself, whatever is stored. */
export function isMalformed(refusal: Rejected): boolean {
  return faultOf(refusal) === 'malformed';
}
