import { createReadStream } from 'node:fs';
import { open, unlink } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import type { Command } from 'commander';
import { exportProject, type OpenExport } from '../app/dashboard/exports.ts';
import { setActive, stopsOf, type Stops } from '../app/projects/activation.ts';
import { MAX_LOGO_BYTES, type LogoFile } from '../app/projects/logo.ts';
import { changeProject, createProject, projectsOf } from '../app/projects/projects.ts';
import { isoTime } from '../wire/time.ts';
import { logoPath } from '../http/checkout/frame.ts';
import { openLongRead } from '../store/long-reads.ts';
import type { Project } from '../store/projects/projects.ts';
import { commaSeparated, percentage, projectIdOf, wholeNumber } from './arguments.ts';
import { CommandFailure, codeOf, reasonOf } from './failure.ts';
import { done, noProject } from './refusal.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, table, type OutputOptions } from './output.ts';

/** `cointill project create|list|deactivate|activate|set`. */
export function addProjectCommands(project: Command): void {
  printsRecord(project.command('create').description('create a project'))
    .requiredOption('--name <name>', "the project's name")
    .action((options: OutputOptions & { readonly name: string }) =>
      withCointill(
        async ({ app }) => {
          const made = done(await createProject(app, options.name)).project;
          print(options, projectRecord(made), () => [
            ...projectLines(made),
            '',
            `Next: cointill key create --project ${made.id} --mode test --kind secret --permission full --name Server`,
          ]);
        },
        { mayCreate: true },
      ),
    );

  printsRecord(project.command('list').description('list all projects')).action((options: OutputOptions) =>
    withCointill(async ({ app }) => {
      const projects = await projectsOf(app);
      print(options, projects.map(projectRecord), () => projectTable(projects));
    }),
  );

  for (const [name, active, description] of [
    ['deactivate', false, 'reject every request of a project until you activate the project again'],
    ['activate', true, 'accept the requests of a deactivated project again'],
  ] as const) {
    printsRecord(project.command(name).description(description))
      .argument('<id>', "the project's id", projectIdOf)
      .action((id: string, options: OutputOptions) => activate(id, active, options));
  }

  addSetCommand(project);
  addExportCommand(project);
}

function activate(id: string, active: boolean, options: OutputOptions): Promise<void> {
  return withCointill(async ({ app }) => {
    const { project } = done(await setActive(app, id, active));
    const stops = active ? null : await stopsOf(app, id);
    print(options, projectRecord(project), () => [
      ...projectLines(project),
      ...(stops === null ? [] : ['', ...stopLines(stops)]),
    ]);
  });
}

function stopLines({ live, test }: Stops): readonly string[] {
  return [
    `From now on, Cointill rejects ${live.keys} live and ${test.keys} test keys.`,
    `Cointill still watches ${live.openPayments} live and ${test.openPayments} test payments, but their pages no longer ask for payment.`,
    `Events still go to ${live.endpoints} live and ${test.endpoints} test endpoints.`,
  ];
}

/** `cointill project export`. */
function addExportCommand(project: Command): void {
  project
    .command('export')
    .description("export a project's permanent records to one file, as JSON lines without secrets")
    .argument('<id>', "the project's id", projectIdOf)
    .requiredOption('--to <file>', 'the file to write, which must not exist yet')
    .action((id: string, { to }: { readonly to: string }) =>
      withCointill(async ({ app, handle }) => {
        if (!(await projectsOf(app)).some((one) => one.id === id)) throw noProject(id);
        const opened = await exportProject(app, () => openLongRead(handle), id);
        if (opened.kind === 'busy') {
          throw new CommandFailure('Two exports are already running. Try again when one of them has finished.');
        }
        const lines = await writeExport(to, opened.file);
        process.stdout.write(`Wrote ${lines} lines to ${to}.\n`);
      }),
    );
}

/** Writes the file; deletes it again if writing fails. */
async function writeExport(to: string, exported: OpenExport): Promise<number> {
  const file = await open(to, 'wx', 0o600).catch(async (error: unknown) => {
    await exported.stop();
    const why = codeOf(error) === 'EEXIST' ? 'this file already exists. Choose another name.' : reasonOf(error);
    throw new CommandFailure(`--to: ${to} cannot be written: ${why}`);
  });
  try {
    // Unlike `write`, `writeFile` continues until the whole piece is written.
    const lines = await exported.write((piece) => file.writeFile(piece));
    await file.sync();
    return lines;
  } catch (error) {
    await unlink(to);
    throw error;
  } finally {
    await file.close();
  }
}

interface SetOptions extends OutputOptions {
  readonly name?: string;
  readonly defaultExpiry?: string;
  readonly defaultCurrency?: string;
  readonly defaultSuccessUrl?: string;
  readonly allowIps?: string;
  readonly spread?: number;
  readonly sweepMin?: number;
  readonly allowOrigins?: string;
  readonly logo?: string;
  readonly accent?: string;
  readonly supportUrl?: string;
  readonly icon?: string;
  readonly pageText?: string;
  readonly termsUrl?: string;
  readonly imprintUrl?: string;
}

function addSetCommand(project: Command): void {
  printsRecord(project.command('set').description("change a project's name, access, spread and look"))
    .argument('<id>', "the project's id", projectIdOf)
    .option('--name <name>', "the project's name")
    .option('--allow-ips <cidrs>', 'comma-separated addresses or CIDRs from which secret keys work; "" allows all')
    .option(
      '--spread <percent>',
      'how much more than the market price customers pay, in percent, such as 1.5',
      percentage,
    )
    .option('--sweep-min <usd>', 'the minimum value of a deposit to sweep', wholeNumber(0, 1_000_000))
    .option('--allow-origins <urls>', 'comma-separated origins of pages that may use public keys; "" allows none')
    .option('--logo <file>', 'a PNG, JPEG or WebP of at most 64 KiB for the payment pages; "none" removes it')
    .option('--accent <colour>', "the colour of the payment pages, such as '#0b6b5b', or none")
    .option('--support-url <url>', 'the URL where customers find help: https, http or mailto, or none')
    .option('--icon <file>', 'a square PNG, JPEG or WebP of at most 64 KiB for the tabs of browsers; "none" removes it')
    .option('--page-text <text>', 'one line of at most 200 characters for the payment pages, or none')
    .option('--terms-url <url>', 'the https URL of the terms, or none')
    .option('--imprint-url <url>', 'the https URL of the imprint, or none')
    .option('--default-expiry <minutes>', 'the default time to pay, 1 to 1440, or none')
    .option('--default-currency <code>', "the shop's currency, and the default for new payments, or none for USD")
    .option('--default-success-url <url>', 'the default page for customers after a payment, or none')
    .action(async (id: string, options: SetOptions, command: Command) => {
      const { allowIps, allowOrigins, spread, sweepMin, logo, accent, supportUrl, name } = options;
      const { defaultExpiry, defaultCurrency, defaultSuccessUrl } = options;
      const { icon, pageText, termsUrl, imprintUrl } = options;
      const { json: _json, ...given } = options;
      if (Object.keys(given).length === 0) {
        command.error(
          'error: there is nothing to change. Give at least one of --allow-ips, --allow-origins, --spread, --sweep-min, --name, --logo, --accent, --support-url, --icon, --page-text, --terms-url, --imprint-url, --default-expiry, --default-currency or --default-success-url',
        );
      }
      await change(
        id,
        {
          ...(allowIps === undefined ? {} : { allowIps: commaSeparated(allowIps) }),
          ...(allowOrigins === undefined ? {} : { allowOrigins: commaSeparated(allowOrigins) }),
          ...(spread === undefined ? {} : { spreadBasisPoints: spread }),
          ...(sweepMin === undefined ? {} : { sweepMinUsdCents: BigInt(sweepMin) * 100n }),
          ...(logo === undefined ? {} : { logo: await readPicture('--logo', logo) }),
          ...(icon === undefined ? {} : { icon: await readPicture('--icon', icon) }),
          ...(pageText === undefined ? {} : { pageText: pageText === NONE ? null : pageText }),
          ...(termsUrl === undefined ? {} : { termsUrl: termsUrl === NONE ? null : termsUrl }),
          ...(imprintUrl === undefined ? {} : { imprintUrl: imprintUrl === NONE ? null : imprintUrl }),
          ...(accent === undefined ? {} : { accent: accent === NONE ? null : accent }),
          ...(supportUrl === undefined ? {} : { supportUrl: supportUrl === NONE ? null : supportUrl }),
          ...(name === undefined ? {} : { name }),
          ...(defaultExpiry === undefined ? {} : { defaultExpiryMinutes: minutesOf(defaultExpiry) }),
          ...(defaultCurrency === undefined
            ? {}
            : { defaultCurrency: defaultCurrency.toLowerCase() === NONE ? null : defaultCurrency }),
          ...(defaultSuccessUrl === undefined
            ? {}
            : { defaultSuccessUrl: defaultSuccessUrl === NONE ? null : defaultSuccessUrl }),
        },
        options,
      );
    });
}

/** Removes a value. A file with this name is `./none`. */
const NONE = 'none';

/** The number; null for a text that is no number, which is refused with its rule. */
function minutesOf(text: string): number | null {
  return text === NONE ? null : /^\d+$/.test(text) ? Number(text) : NaN;
}

/** Reads only enough of the file to see that it is too large: it may be anything, even a disk or a pipe. */
async function readPicture(option: string, file: string): Promise<LogoFile | null> {
  if (file === NONE) return null;
  try {
    return { file, bytes: await buffer(createReadStream(file, { end: MAX_LOGO_BYTES })) };
  } catch (error) {
    const why = codeOf(error) === 'ENOENT' ? 'there is no such file' : reasonOf(error);
    throw new CommandFailure(
      `${option}: ${file} cannot be read: ${why}. Give the path of a PNG, JPEG or WebP picture.`,
    );
  }
}

function change(id: string, changes: Parameters<typeof changeProject>[2], options: OutputOptions): Promise<void> {
  return withCointill(async ({ app }) => {
    const { project } = done(await changeProject(app, id, changes));
    print(options, projectRecord(project), () => projectLines(project));
  });
}

function projectRecord(project: Project): object {
  return {
    id: project.id,
    name: project.name,
    active: project.active,
    allow_ips: project.allowIps,
    spread_percent: project.spreadBasisPoints / 100,
    sweep_min_usd: Number(project.sweepMinUsdCents / 100n),
    allow_origins: project.allowOrigins,
    accent: project.accent === null ? null : `#${project.accent}`,
    support_url: project.supportUrl,
    logo: project.logo === null ? null : logoPath(project.logo.hash),
    icon: project.icon === null ? null : logoPath(project.icon.hash),
    page_text: project.pageText,
    terms_url: project.termsUrl,
    imprint_url: project.imprintUrl,
    default_expiry_minutes: project.defaultExpiryMinutes,
    default_currency: project.defaultCurrency,
    default_success_url: project.defaultSuccessUrl,
    created_at: isoTime(project.createdAt),
  };
}

function projectLines(project: Project): readonly string[] {
  return fields([
    ['Project', project.id],
    ['Name', project.name],
    ['Active', project.active ? 'yes' : 'no: every request is rejected'],
    ['IPs', project.allowIps.length === 0 ? 'all' : project.allowIps.join(', ')],
    ['Origins', project.allowOrigins.length === 0 ? 'none' : project.allowOrigins.join(', ')],
    ['Spread', `${project.spreadBasisPoints / 100} %`],
    ['Sweeps from', `${project.sweepMinUsdCents / 100n} USD`],
    ['Accent', project.accent === null ? null : `#${project.accent}`],
    ['Support', project.supportUrl],
    ['Logo', pictureText(project.logo)],
    ['Icon', pictureText(project.icon)],
    ['Text', project.pageText],
    ['Terms', project.termsUrl],
    ['Imprint', project.imprintUrl],
    ['Time to pay', project.defaultExpiryMinutes === null ? null : `${project.defaultExpiryMinutes} minutes`],
    ['Currency', project.defaultCurrency],
    ['After paying', project.defaultSuccessUrl],
    ['Created', isoTime(project.createdAt)],
  ]);
}

function pictureText(picture: Project['logo']): string | null {
  return picture && `${picture.width} × ${picture.height}, ${logoPath(picture.hash)}`;
}

function projectTable(projects: readonly Project[]): readonly string[] {
  return table(
    ['PROJECT', 'ACTIVE', 'CREATED', 'NAME'],
    projects.map(({ id, active, createdAt, name }) => [id, active ? 'yes' : 'no', isoTime(createdAt), name]),
    'There is no project yet. The first start of the service creates a project. You can also create a project with: cointill project create --name NAME',
  );
}
