import { Option, type Command } from 'commander';
import type { NewLink } from '../app/people/links.ts';
import { deactivatePerson, invitePerson, peopleOf, resetPerson, setRole } from '../app/people/people.ts';
import { endAllSessions, sessionsOf } from '../app/people/sessions.ts';
import { keysPeopleMade } from '../app/projects/keys.ts';
import { rejected } from '../app/rejected.ts';
import { readConfig } from '../config/config.ts';
import { ROLES, type Role } from '../domain/role.ts';
import { findPersonByEmail, type Member, type Person } from '../store/people/people.ts';
import type { Session } from '../store/people/sessions.ts';
import { isoTime, isoTimeOrNull } from '../wire/time.ts';
import { isEmail } from '../domain/mail-address.ts';
import { projectIdOf } from './arguments.ts';
import { CommandFailure, UsageFailure } from './failure.ts';
import { done, refusalMessage } from './refusal.ts';
import { keyRecord, madeKeyLines } from './key.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, secretFields, table, type OutputOptions } from './output.ts';
import { addFactorCommand } from './require-second-factor.ts';

interface RoleOptions extends OutputOptions {
  readonly role: Role;
  readonly project?: string;
}

const NO_ROLE = 'none';
interface ChangedRoleOptions extends Omit<RoleOptions, 'role'> {
  readonly role: Role | typeof NO_ROLE;
}

const role = () => new Option('--role <role>', 'what the person may do').choices(ROLES).makeOptionMandatory();
const PROJECT = [
  '--project <id>',
  'only in this project; by default in all projects, including later ones',
  projectIdOf,
] as const;
const emailOption = (text: string): string => emailOf(text, '--email');
const emailArgument = (text: string): string => emailOf(text, 'The account');

/** `cointill user invite|list|role|reset|deactivate|sessions|require-second-factor`. */
export function addUserCommands(user: Command): void {
  printsRecord(user.command('invite').description('create a link that invites a person, or invites them again'))
    .requiredOption('--email <email>', "the account's e-mail address", emailOption)
    .addOption(role())
    .option(...PROJECT)
    .option('--name <name>', 'the name that colleagues see; the person can change it')
    .action((options: RoleOptions & { readonly email: string; readonly name?: string }) => {
      const { email, name, project: projectId = null } = options;
      const request = { email, name, role: options.role, projectId };
      const url = dashboardUrl();
      return withCointill(async ({ app }) => {
        const { person, link, memberships, isMailed } = done(await invitePerson(app, url, request));
        const standing = request.projectId === null ? projectRoles(memberships) : [];
        printLink(options, person, { role: options.role, standing, isMailed }, link);
      });
    });

  printsRecord(user.command('list').description('list everybody who may use the dashboard')).action(
    (options: OutputOptions) =>
      withCointill(async ({ app }) => {
        const people = await peopleOf(app);
        print(options, people.map(personRecord), () => peopleTable(people));
      }),
  );

  addRoleCommand(user);

  printsRecord(
    user
      .command('reset')
      .description('create a link for a new password, end all sessions, and remove the second factor'),
  )
    .argument('<email>', "the account's e-mail address", emailArgument)
    .action((email: string, options: OutputOptions) => {
      const url = dashboardUrl();
      return withCointill(async ({ app }) => {
        const { person, link } = done(await resetPerson(app, url, { email }));
        printLink(options, person, { role: null, standing: [], isMailed: null }, link);
      });
    });

  printsRecord(
    user
      .command('deactivate')
      .description('block a person from signing in, end all their sessions, and list the keys that they created'),
  )
    .argument('<email>', "the account's e-mail address", emailArgument)
    .action((email: string, options: OutputOptions) =>
      withCointill(async ({ app }) => {
        const { person } = done(await deactivatePerson(app, { email }));
        const made = (await keysPeopleMade(app, null)).filter(({ maker }) => maker.id === person.id);
        const keys = made.map(({ key }) => key);
        const record = { email: person.email, deactivated: true, keys: keys.map(keyRecord) };
        print(options, record, () => [
          `${person.email} can no longer sign in, and is signed out everywhere.`,
          ...madeKeyLines(keys),
        ]);
      }),
    );

  addSessionsCommand(user);
  addFactorCommand(user);
}

function addRoleCommand(user: Command): void {
  printsRecord(user.command('role').description("change or remove a person's role"))
    .argument('<email>', "the account's e-mail address", emailArgument)
    .addOption(
      new Option('--role <role>', 'what the person may do; none removes the role')
        .choices([...ROLES, NO_ROLE])
        .makeOptionMandatory(),
    )
    .option(...PROJECT)
    .action((email: string, options: ChangedRoleOptions) => {
      const change = { role: options.role === NO_ROLE ? null : options.role, projectId: options.project ?? null };
      return withCointill(async ({ app }) => {
        const { person, memberships } = done(await setRole(app, { email }, change));
        const standing = projectRoles(memberships);
        const record = {
          email: person.email,
          role: change.role,
          project_id: change.projectId,
          // The roles that the change has left unchanged.
          ...(change.projectId === null ? { project_roles: standing.map(roleRecord) } : {}),
        };
        print(options, record, () => [
          changedLine(person, change, memberships),
          ...(change.projectId === null ? standingLines(person, standing) : []),
        ]);
      });
    });
}

function addSessionsCommand(user: Command): void {
  printsRecord(user.command('sessions').description("list a person's sessions, or end them"))
    .argument('<email>', "the account's e-mail address", emailArgument)
    .option('--end', 'end all sessions')
    .action((email: string, options: OutputOptions & { readonly end?: boolean }) =>
      withCointill(async ({ app }) => {
        const person = await findPersonByEmail(app.db, email);
        if (person === null) throw new CommandFailure(refusalMessage(rejected('no_email', { email })));
        const sessions = await sessionsOf(app, person.id);
        if (options.end === true) await endAllSessions(app, person.id);
        print(options, sessions.map(sessionRecord), () => [
          ...sessionTable(sessions),
          ...(options.end === true ? ['', `${person.email} is signed out everywhere.`] : []),
        ]);
      }),
    );
}

function emailOf(text: string, name: string): string {
  const email = text.trim();
  if (isEmail(email)) return email;
  throw new UsageFailure(`${name} must be an e-mail address such as ann@shop.example.`);
}

/** The address of the link, from the service's settings, which a command has to be run with. */
function dashboardUrl(): string {
  const { dashboard } = readConfig(process.env, process.cwd());
  if (dashboard !== null) return dashboard.url;
  throw new CommandFailure(
    'There is no dashboard, because DASHBOARD is off. Set DASHBOARD to on, here and for the service.',
  );
}

type Membership = Member['memberships'][number];

const projectRoles = (memberships: readonly Membership[]): readonly Membership[] =>
  memberships.filter(({ projectId }) => projectId !== null);

const roleRecord = ({ role: given, projectId }: Membership) => ({ role: given, project_id: projectId });

function changedLine(
  { email }: Person,
  { role: given, projectId }: { readonly role: Role | null; readonly projectId: string | null },
  memberships: readonly Membership[],
): string {
  if (given !== null)
    return `${email} is now ${given} ${projectId === null ? 'in all projects' : `in project ${projectId}`}.`;
  if (projectId === null) return `${email} no longer has a role for all projects.`;
  const everywhere = memberships.find((one) => one.projectId === null)?.role;
  const rest =
    everywhere === undefined ? 'and no role for all projects' : `and is ${everywhere} there, as in all projects`;
  return `${email} no longer has a separate role in project ${projectId}, ${rest}.`;
}

/** Says that a role in all projects does not apply everywhere, and how to remove the others. */
function standingLines({ email }: Person, standing: readonly Membership[]): readonly string[] {
  if (standing.length === 0) return [];
  return [
    '',
    'Roles in single projects remain, and apply there instead of the role for all projects:',
    ...standing.map((one) => `  ${one.role} in project ${one.projectId}`),
    `Remove such a role with: cointill user role ${email} --role ${NO_ROLE} --project ID`,
  ];
}

interface LinkDetails {
  readonly role: Role | null;
  readonly standing: readonly Membership[];
  /** Whether an invitation is mailed too; null if it is no invitation. */
  readonly isMailed: boolean | null;
}

function printLink(
  options: OutputOptions,
  person: Person,
  { role: given, standing, isMailed }: LinkDetails,
  { url, expiresAt }: NewLink,
): void {
  const record = {
    email: person.email,
    ...(given === null ? {} : { role: given }),
    link: url,
    expires_at: isoTime(expiresAt),
    ...(isMailed === null ? {} : { mailed: isMailed }),
    ...(standing.length === 0 ? {} : { project_roles: standing.map(roleRecord) }),
  };
  print(options, record, () => [
    ...fields([
      ['E-mail', person.email],
      ['Role', given],
      ['Valid until', isoTime(expiresAt)],
      ['Mail', isMailed === true ? 'the service also sends an e-mail with another link' : null],
    ]),
    ...secretFields(
      'Link',
      url,
      `The link works once, for ${isMailed === null ? 'an hour' : 'seven days'}. Give it to nobody else.`,
    ),
    ...standingLines(person, standing),
  ]);
}

const stateOf = (person: Person): 'deactivated' | 'invited' | 'active' =>
  person.deactivatedAt !== null ? 'deactivated' : person.passwordHash === null ? 'invited' : 'active';

function personRecord(person: Member): object {
  return {
    email: person.email,
    name: person.name,
    state: stateOf(person),
    roles: person.memberships.map(roleRecord),
    second_factor: person.sealedTotp !== null || person.hasPasskeys,
    created_at: isoTime(person.createdAt),
    last_seen_at: isoTimeOrNull(person.lastSeenAt),
  };
}

function peopleTable(people: readonly Member[]): readonly string[] {
  return table(
    ['E-MAIL', 'NAME', 'STATE', 'SECOND FACTOR', 'LAST SEEN', 'ROLES'],
    people.map((person) => [
      person.email,
      person.name ?? '-',
      stateOf(person),
      person.sealedTotp !== null || person.hasPasskeys ? 'yes' : 'no',
      isoTimeOrNull(person.lastSeenAt) ?? '-',
      person.memberships.map((one) => `${one.role} (${one.projectId ?? 'all projects'})`).join(', ') || '-',
    ]),
    'Nobody has an account yet. Create a link with: cointill user invite --email EMAIL --role owner',
  );
}

function sessionRecord(session: Session): object {
  return {
    id: session.id,
    signed_in_at: isoTime(session.signedInAt),
    last_used_at: isoTime(session.lastUsedAt),
    ip: session.ip,
    user_agent: session.userAgent,
  };
}

function sessionTable(sessions: readonly Session[]): readonly string[] {
  return table(
    ['SIGNED IN', 'LAST USED', 'FROM', 'BROWSER'],
    sessions.map((one) => [isoTime(one.signedInAt), isoTime(one.lastUsedAt), one.ip, one.userAgent ?? '-']),
    'There are no sessions.',
  );
}
