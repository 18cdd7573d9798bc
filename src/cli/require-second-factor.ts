import { InvalidArgumentError, type Command } from 'commander';
import { requiredFactors, requireFactors } from '../app/people/required-factors.ts';
import { ROLES, type Role } from '../domain/role.ts';
import { commaSeparated } from './arguments.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';
import { print, printsRecord, type OutputOptions } from './output.ts';

const NO_ROLE = 'none';

/** `cointill user require-second-factor`. */
export function addFactorCommand(user: Command): void {
  printsRecord(
    user
      .command('require-second-factor')
      .description('show or set the roles that require a second factor; people without a factor must add one at once'),
  )
    .argument('[roles]', `all, ${NO_ROLE}, or comma-separated roles: ${ROLES.join(', ')}`, rolesIn)
    .action((roles: readonly Role[] | undefined, options: OutputOptions) =>
      withCointill(async ({ app }) => {
        const required = roles === undefined ? await requiredFactors(app) : done(await requireFactors(app, roles));
        const without = required.lacking.map(({ email }) => email);
        print(options, { roles: required.roles, without_second_factor: without }, () =>
          factorLines(required.roles, without),
        );
      }),
    );
}

function rolesIn(text: string): readonly Role[] {
  if (text === NO_ROLE) return [];
  const words = commaSeparated(text);
  const unknown = words.find((word) => !ROLES.some((one) => one === word));
  if (text !== 'all' && (unknown !== undefined || words.length === 0)) {
    throw new InvalidArgumentError(`Give all, ${NO_ROLE}, or a comma-separated list of roles: ${ROLES.join(', ')}.`);
  }
  return ROLES.filter((one) => text === 'all' || words.includes(one));
}

function factorLines(roles: readonly Role[], without: readonly string[]): readonly string[] {
  if (roles.length === 0) return ['No role requires a second factor.'];
  return [
    `Roles that require a second factor: ${roles.join(', ')}.`,
    ...(without.length === 0 ? [] : ['', 'These people must add a second factor before they can do anything else:']),
    ...without.map((email) => `  ${email}`),
  ];
}
