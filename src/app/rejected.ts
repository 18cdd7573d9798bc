/**
 * Why operators' requests are refused, by code. `{param}` is the value to blame, under the caller's name for it. Each
 * caller adds its own way out: a command, or a place on a page.
 */

/** The value breaks its own rule, regardless of stored data. */
const MALFORMED = {
  name_length: '{param} must have 1 to {max} characters on one line, and one of them must be visible.',
  name_direction: '{param} must not have characters that turn the direction of text, such as U+202E.',
  other_name: 'This is not the name of the project. Type it as it stands above.',
  whole_number: '{param} must be a whole number from {min} to {max}.',
  percentage: '{param} must be a percentage from 0 to {max} with at most two decimals, such as 0.5.',
  one_of: '{param} must be one of {names}.',
  cidr: '{rule}',
  origin:
    '"{text}" is not an origin such as https://shop.example: give the scheme, the host as it is read, and a port at most.',
  accent: '{param} must be a colour of six hex digits, such as #0b6b5b.',
  support_url:
    '{param} must be an absolute URL such as https://shop.example/help or mailto:help@shop.example, of at most {max} characters and without a password.',
  success_url:
    '{param} must be an absolute http or https URL such as https://shop.example/thanks, of at most {max} characters, without a password, and with a host that every browser reads alike.',
  expiry: '{param} must be a whole number of minutes from {min} to {max}.',
  currency: '{param} must be one of {names}.',
  coin_unknown: '{param} must be of {names}; {coin} is none.',
  coin_twice: '{param} must name each coin once.',
  no_coin_left: '{param} must leave at least one coin switched on that a wallet is set for: else nobody could pay.',
  key_grant: 'A key needs either a permission or one scope at least, and not both.',
  public_scope: 'A public key cannot have the scope {scope}, only {scopes}.',
  event_unknown: '"{name}" is not one of all, {names}.',
  no_event: '{param} must be all, or a list of {names}.',
  url: '{rule}',
  wallet_source: '{rule}',
  own_deposit:
    'This is a deposit contract of this project: it would pay into itself, or to an older treasury, and not to a wallet of yours. Give the address (0x and 40 hex digits) of your own wallet that deposits shall be paid out to.',
  customer_choice: 'Give either the e-mail address of one customer or a number of days.',
  customer_email: '{param} must be one such as customer@example.com, as it stands on the payment.',
  text_empty: '{param} must not be empty.',
  too_many_notes: '{param}: a payment has at most {max} notes. Edit one or delete one.',
  label: '{param} must be one or a few words without a comma. Add several labels one by one.',
  too_many_labels: '{param}: a payment has at most {max} labels. Remove one first.',
  assignee: '{param} must be a person who may write notes in this project. Choose one from the list.',
  zone: '{param} must be a time zone of the IANA database, such as Europe/Berlin.',
  password: '{rule}',
  sweep_hash_taken: '{param} is the transaction of another sweep. Copy that of this one from your wallet.',
} as const;

const MISSING = {
  no_project: 'There is no project {id}.',
  no_person: 'There is no such person.',
  no_email: 'Nobody here has the e-mail {email}.',
  no_key: 'There is no such key.',
  no_payment: 'There is no such payment in this project and mode.',
  no_wallet: 'The project has no {network} wallet.',
  no_endpoint: 'There is no such webhook endpoint.',
  no_delivery: 'There is no such delivery.',
  no_retry: 'There is no such retry.',
  no_refund: 'There is no such refund.',
  no_sweep: 'There is no such sweep in this project.',
  no_view: 'There is no such view in this project. It may have been deleted.',
  no_lost_money: 'There is no lost money on {address}.',
} as const;

/** Somebody else has changed the record, or its state does not allow the request. */
const CONFLICT = {
  settings_changed:
    'Somebody else has changed these settings meanwhile, and nothing was saved. The page shows them as they are now: make your change again.',
  list_changed:
    'Somebody else has changed this list meanwhile, and nothing was saved. Close this to see the list as it is now, then make your change again.',
  terms_changed:
    'Somebody else has changed this meanwhile, and nothing was saved. Close this to see it as it is now, then make your change again.',
  wallet_changed:
    'Somebody else has changed this wallet meanwhile, and nothing was saved. Close this to see it as it is now, then make your change again.',
  wallet_not_compared:
    'This is not the wallet whose addresses were compared, and nothing was saved. Compare the addresses again, then save.',
  endpoint_changed:
    'Somebody else has changed this endpoint meanwhile: it is {url} now and gets {events}, and nothing was saved. Close this to see it as it is now, then make your change again.',
  endpoint_disabled: 'The endpoint is disabled.',
  endpoint_paused: 'The endpoint is paused: nothing is sent to it.',
  retry_running:
    'Deliveries are being sent again already, {done} of {total} so far. Wait until that is done, or stop it first.',
  role_changed:
    'Somebody else has changed this meanwhile: {email} has the role {role} there now, and nothing was saved.',
  role_removed:
    'Somebody else has changed this meanwhile: {email} has no role of their own there now, and nothing was saved.',
  key_revoked: 'This key was revoked at {at}. Create a new one.',
  key_rolled:
    'This key was rolled already and works until {at}. Roll the key that took its place, or create a new one.',
  view_changed:
    'The view was changed meanwhile; it is called “{name}” now. Reload the page to see it, or save yours under another name.',
  note_deleted: 'This note has been deleted in the meantime. Write a new one to keep your text.',
  note_edited: 'This note was edited meanwhile. Read it, then make your change again.',
  attention_over: 'This item needs no attention any more. Nothing was saved.',
  attention_changed: 'Somebody else has changed this item meanwhile. Read it, then make your change again.',
  sweep_not_offered:
    'This call is not offered any more: somebody has begun to send it, or what lies on the deposits has changed. The page shows what is there now.',
  no_factory:
    'The deposit factory is not on the chain yet, so this call would do nothing. Send the call that puts it there first, and wait until it is mined.',
  sweep_known: 'This sweep has a transaction that a node knows. The page follows it, and its hash cannot be changed.',
  sweep_sent:
    'This sweep was sent, so it cannot be given up. The page shows what becomes of it. If its hash is wrong, give the right one.',
} as const;

/** The person's role does not allow the request. */
const FORBIDDEN = { beyond_role: '{rule}' } as const;

/** The request is refused for another reason. */
const REFUSED = {
  url_refused: '{rule}',
  logo_size: '{file} is larger than {max} KiB. Save it with fewer pixels or more compression.',
  logo_type: '{file} is not a PNG, JPEG or WebP picture by its content. Save it as one of these.',
  logo_animated: '{file} is animated, and a logo must stand still. Save one frame of it.',
  logo_tail:
    '{file} has {extra} more bytes after the end of the picture, as a file of two kinds has. Export the picture again.',
  logo_broken: '{file} is damaged or cut off. Export the picture again.',
  logo_sides: '{file} is {width} × {height} pixels; each side must have {min} to {max}. Scale the picture.',
  has_account: '{email} has an account already.',
  deactivated: '{email} is deactivated.',
  no_factor: '{email} has no second factor. Reload the page to see how it is.',
  last_owner: 'This is the last owner of all projects, and somebody must be.',
  own_password:
    'You cannot reset your own password here: change it on the page of your account, or ask another owner to reset it.',
  note_of_other: '{rule}',
  session_ended: 'The session has ended. Sign in again.',
  second_factor_first: 'This account has a second factor. Confirm with that.',
  wrong_password: 'The password is wrong.',
  wrong_current_password: 'The current password is wrong.',
  wrong_code:
    'The code is wrong or was used before. Enter the one shown now, and check that the device’s clock is right.',
  wrong_passkey: 'This passkey does not match. Try again.',
  email_unusable: 'This e-mail cannot be used here. Enter another one.',
  email_required: 'email is required.',
  no_new_secret: 'There is no new secret to confirm. Start again.',
  passkey_unusable: 'The passkey could not be added. Try again.',
  passkey_known: 'This passkey has already been added.',
  no_factor_to_replace: 'Recovery codes replace a lost second factor. Add an authenticator or a passkey first.',
  nothing_to_retry:
    'Nothing here can be sent again: everything arrived, or its endpoint is disabled, paused or deleted. Enable the endpoint first.',
  too_many_views: 'You have {max} views in this project already. Delete one of them first.',
  other_view: 'This view belongs to {owner}. Save one of your own instead.',
  no_sharing: 'As {role} you cannot share views. Save it for yourself.',
  no_price: 'There is no price for {currency} here.',
  not_its_wallet: 'The {network} wallet of this address is not one of project {project}.',
  shared_wallet: 'Several projects share the wallet of this address ({projects}).',
} as const;

const TEXTS = { ...MALFORMED, ...MISSING, ...CONFLICT, ...FORBIDDEN, ...REFUSED } as const;

export type RefusalCode = keyof typeof TEXTS;

/** A refused request of an operator. */
export interface Rejected {
  readonly kind: 'rejected';
  readonly code: RefusalCode;
  /** The value to blame, under the use case's name for it. */
  readonly param?: string;
  /** The values in the code's text. */
  readonly values: Readonly<Record<string, string | number>>;
}

type Places<Text extends string> = Text extends `${string}{${infer Name}}${infer Rest}` ? Name | Places<Rest> : never;
type Details<Code extends RefusalCode> = Readonly<
  Record<Exclude<Places<(typeof TEXTS)[Code]>, 'param'>, string | number>
> &
  ('param' extends Places<(typeof TEXTS)[Code]> ? { readonly param: string } : { readonly param?: string });

/** A refusal, with a value for each place in its text. */
export function rejected<Code extends RefusalCode>(
  code: Code,
  ...[details]: [Places<(typeof TEXTS)[Code]>] extends [never] ? [details?: Details<Code>] : [details: Details<Code>]
): Rejected {
  const { param, ...values } = { param: undefined, ...details };
  return { kind: 'rejected', code, ...(param === undefined ? {} : { param }), values };
}

export function isRejected(outcome: { readonly kind: string }): outcome is Rejected {
  return outcome.kind === 'rejected';
}

export function noProject(id: string): Rejected {
  return rejected('no_project', { id });
}

/** The kind of fault in a request. */
export function faultOf({ code }: Rejected): 'malformed' | 'missing' | 'conflict' | 'forbidden' | 'refused' {
  if (code in MALFORMED) return 'malformed';
  if (code in MISSING) return 'missing';
  if (code in CONFLICT) return 'conflict';
  return code in FORBIDDEN ? 'forbidden' : 'refused';
}

/** A refusal in words, followed by the caller's way out; `name` is the caller's name of the value to blame. */
export function refusalText({ code, values }: Rejected, name: string, wayOut: string | undefined): string {
  const text = wayOut === undefined ? TEXTS[code] : `${TEXTS[code]} ${wayOut}`;
  return text.replaceAll(/\{(\w+)\}/g, (_place, key: string) => (key === 'param' ? name : String(values[key])));
}

/** Whether the text of a refusal begins with the name of the value to blame. */
export function namesParam({ code }: Rejected): boolean {
  return TEXTS[code].includes('{param}');
}
