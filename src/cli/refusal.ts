import {
  isRejected,
  noProject as noSuchProject,
  type Rejected,
  faultOf,
  namesParam,
  refusalText,
} from '../app/rejected.ts';
import type { RefusalCode } from '../domain/sentence.ts';
import { BackupError } from '../archive/format.ts';
import { ConfigError } from '../config/config.ts';
import { namingFiles } from '../config/secret-files.ts';
import { UnfitDatabaseError } from '../store/unfit-database.ts';
import { EmbeddedPostgresError } from '../embedded/error.ts';
import { OccupiedDatabaseError } from '../store/backups/load.ts';
import { MigrationError } from '../store/migration-files.ts';
import { SealingKeyError } from '../webhooks/secret.ts';
import { CommandFailure, reasonOf, UsageFailure } from './failure.ts';

/** There is no such project. */
export function noProject(id: string): CommandFailure {
  return new CommandFailure(refusalMessage(noSuchProject(id)));
}

/** There is no such payment, or the id's API did not make it. */
export function noPayment(givenId: string): CommandFailure {
  return new CommandFailure(`There is no payment ${givenId}. List payments with: cointill payment list`);
}

/** Ends the command with the message of a refusal, or returns the result. */
export function done<Outcome extends { readonly kind: string }>(
  outcome: Outcome | Rejected,
): Exclude<Outcome, { readonly kind: 'rejected' }> {
  if (isRejected(outcome)) throw new (isMalformed(outcome) ? UsageFailure : CommandFailure)(refusalMessage(outcome));
  return outcome as Exclude<Outcome, { readonly kind: 'rejected' }>;
}

/**
 * The text of an error for people: its message, never its stack. For unexpected errors it says how to learn more; with
 * LOG_LEVEL=debug (or trace) their stack is shown instead. Only our own messages have several lines: a message that
 * quotes another program is put on one line.
 */
export function describeError(error: unknown, env: Environment): readonly string[] {
  return linesOf(error, env).map((line) => namingFiles(line, env));
}

type Environment = Readonly<Record<string, string | undefined>>;

function linesOf(error: unknown, env: Environment): readonly string[] {
  if (error instanceof ConfigError || error instanceof EmbeddedPostgresError) return error.message.split('\n');
  if (
    error instanceof CommandFailure ||
    error instanceof MigrationError ||
    error instanceof SealingKeyError ||
    error instanceof UnfitDatabaseError ||
    error instanceof BackupError ||
    error instanceof OccupiedDatabaseError
  ) {
    return [error.message];
  }
  if (env['LOG_LEVEL'] === 'debug' || env['LOG_LEVEL'] === 'trace') {
    return (error instanceof Error ? (error.stack ?? error.message) : String(error)).split('\n');
  }
  return [`${reasonOf(error)} (Set LOG_LEVEL=debug to see where the error occurred.)`];
}

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
  accent: 'Put the colour in quotes, because a shell reads # as a comment. "none" removes the colour.',
  currency: 'Give "none" for USD.',
  deactivated: 'Invite this person again with: cointill user invite --email {email} --role ROLE',
  endpoint_disabled: 'Enable the endpoint first with: cointill webhook enable',
  endpoint_paused: 'Resume the endpoint first with: cointill webhook enable',
  expiry: '"none" removes the default.',
  has_account:
    'Change the role with: cointill user role {email} --role ROLE. Create a new link with: cointill user reset {email}',
  last_owner: 'First make another person an owner with: cointill user role EMAIL --role owner',
  no_delivery: 'List deliveries with: cointill webhook deliveries ENDPOINT_ID',
  no_email: 'List everybody with: cointill user list',
  no_endpoint: 'List endpoints with: cointill webhook list',
  no_key: 'List keys with: cointill key list',
  no_lost_money: 'List lost money with: cointill network status',
  no_price: 'Set a price for this command: FIXED_RATES={currency}=1.10',
  no_project: 'List projects with: cointill project list',
  no_refund: 'The id of a refund begins with re_. List refunds with: GET /v1/refunds',
  no_wallet: 'Set a wallet with: cointill wallet set --network {network}',
  shared_wallet: 'Name the project: --project ID',
  page_text: '"none" removes the text.',
  secure_url: '"none" removes the URL.',
  success_url: '"none" removes the URL.',
  support_url: '"none" removes the URL.',
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
