import { Option, type Command } from 'commander';
import {
  allOf,
  createEndpoint,
  deleteEndpoint,
  endpointsOf,
  reopenEndpoint,
  rotateEndpointSecret,
} from '../app/webhooks/webhook-endpoints.ts';
import { DOCUMENTED_EVENTS, OPT_IN_EVENTS } from '../domain/event-type.ts';
import { encodeId } from '../domain/id.ts';
import { MODES, type Mode } from '../domain/permission.ts';
import { MESSAGE_TYPES, WEBHOOK_FORMATS, type WebhookFormat } from '../domain/shop-message.ts';
import { isoTime } from '../wire/time.ts';
import { findProject } from '../store/projects/projects.ts';
import type { WebhookEndpoint } from '../store/webhooks/webhook-endpoints.ts';
import { actsOnId } from './act-on-id.ts';
import { endpointIdOf, projectIdOf } from './arguments.ts';
import { done, noProject } from './refusal.ts';
import { addListenCommand } from './listen.ts';
import { withCointill } from './open.ts';
import { fields } from '../wire/fields.ts';
import { print, printsRecord, secretFields, table, type OutputOptions } from './output.ts';
import { addDeliveryCommands } from './webhook-deliveries.ts';

interface CreateOptions extends OutputOptions {
  readonly project: string;
  readonly mode: Mode;
  readonly url: string;
  readonly events: string;
  readonly format?: WebhookFormat;
}

/** `cointill webhook create|list|delete|enable|rotate|test|deliveries|retry|listen`. */
export function addWebhookCommands(webhook: Command): void {
  addCreate(webhook);
  addList(webhook);
  addDeleteAndEnable(webhook);
  addRotate(webhook);
  addDeliveryCommands(webhook);
  addListenCommand(webhook.command('listen'));
}

function addCreate(webhook: Command): void {
  printsRecord(webhook.command('create').description("create an endpoint: a URL that receives a project's events"))
    .requiredOption('--project <id>', "the project's id", projectIdOf)
    .addOption(new Option('--mode <mode>', 'events of test or live payments').choices(MODES).makeOptionMandatory())
    .requiredOption('--url <url>', 'https://…; in test mode also http://… and addresses of this machine')
    .requiredOption(
      '--events <types>',
      `all documented types (all), or comma-separated types; all leaves these out: ${OPT_IN_EVENTS.join(', ')}`,
    )
    .addOption(
      new Option(
        '--format <format>',
        'greenfield: messages about invoices as BTCPay plugins of shops read them; all or some of these types',
      ).choices(WEBHOOK_FORMATS),
    )
    .addHelpText(
      'after',
      `\nDocumented events: ${DOCUMENTED_EVENTS.join(', ')}\nTypes of --format greenfield: ${MESSAGE_TYPES.join(', ')}`,
    )
    .action(({ project: projectId, mode, url, events, format, ...options }: CreateOptions) => {
      const request = { projectId, mode, url, events, format: format ?? null };
      return withCointill(async ({ app, sealingKeys, policyOf }) => {
        const { endpoint, secret } = done(await createEndpoint(app, await sealingKeys(), policyOf, request));
        const id = encodeId('endpoint', endpoint.id);
        const record = { id, url: endpoint.url, secret, ...formatOf(endpoint), events: endpoint.events };
        print(options, record, () => [
          ...fields([
            ['Endpoint', id],
            ['Mode', endpoint.mode],
            ['URL', endpoint.url],
            ...(endpoint.format === null ? [] : [['Format', endpoint.format] as const]),
            ['Events', endpoint.events.join(', ')],
          ]),
          ...secretFields(
            'Secret',
            secret,
            'The secret is shown only once, so save it now. Verify every webhook with this secret.',
          ),
        ]);
      });
    });
}

function addList(webhook: Command): void {
  printsRecord(webhook.command('list').description('list endpoints, without their secrets'))
    .option('--project <id>', 'only endpoints of this project', projectIdOf)
    .action((options: OutputOptions & { readonly project?: string }) =>
      withCointill(async ({ app }) => {
        const { project: projectId = null } = options;
        if (projectId !== null && (await findProject(app.db, projectId)) === null) {
          throw noProject(projectId);
        }
        const endpoints = await endpointsOf(app, projectId);
        print(options, endpoints.map(endpointRecord), () => endpointTable(endpoints));
      }),
    );
}

function addDeleteAndEnable(webhook: Command): void {
  actsOnId(webhook.command('delete').description('delete an endpoint and cancel its waiting deliveries'), 'endpoint', {
    run: deleteEndpoint,
    record: { deleted: true },
    line: (id) => `Deleted ${id}: the endpoint no longer receives events.`,
  });
  actsOnId(
    webhook.command('enable').description('send events again to an endpoint that responded with 410 or is paused'),
    'endpoint',
    {
      run: reopenEndpoint,
      record: { enabled: true },
      line: (id) =>
        `Enabled ${id}: the endpoint receives every event from now on. To send stopped deliveries, run: cointill webhook retry`,
    },
  );
}

function addRotate(webhook: Command): void {
  printsRecord(
    webhook.command('rotate').description('give an endpoint a new secret; the old one stays valid for 24 hours'),
  )
    .argument('<id>', "the endpoint's id, we_…", endpointIdOf)
    .option('--lost-key', 'use this if you lost SECRET_KEY or secret.key, and with it the old secret')
    .action((uuid: string, { lostKey: lost = false, ...options }: OutputOptions & { readonly lostKey?: boolean }) =>
      withCointill(async ({ app, sealingKeys }) => {
        const rotated = done(await rotateEndpointSecret(app, await sealingKeys({ lost }), uuid, { isNewKey: lost }));
        const { endpoint, secret, previousUntil } = rotated;
        const id = encodeId('endpoint', endpoint.id);
        const until = previousUntil === null ? null : isoTime(previousUntil);
        const record = { id, url: endpoint.url, secret, previous_secret_until: until };
        print(options, record, () => [
          ...fields([
            ['Endpoint', id],
            ['URL', endpoint.url],
            [
              'Old secret',
              until === null ? 'signs nothing any more' : `also signs in webhook-signature until ${until}`,
            ],
          ]),
          ...secretFields(
            'Secret',
            secret,
            `The secret is shown only once, so save it now. ${endpoint.format === null ? 'x-service-signature' : 'BTCPay-Sig'} uses this secret from now on.`,
          ),
        ]);
      }),
    );
}

function endpointRecord(endpoint: WebhookEndpoint): object {
  const { disabledAt, previousSecretUntil } = endpoint;
  return {
    id: encodeId('endpoint', endpoint.id),
    project_id: endpoint.projectId,
    mode: endpoint.mode,
    url: endpoint.url,
    ...formatOf(endpoint),
    events: endpoint.events,
    disabled_at: disabledAt === null ? null : isoTime(disabledAt),
    disabled_reason: endpoint.disabledReason,
    paused_at: endpoint.pausedAt === null ? null : isoTime(endpoint.pausedAt),
    previous_secret_until: previousSecretUntil === null ? null : isoTime(previousSecretUntil),
    created_at: isoTime(endpoint.createdAt),
  };
}

function formatOf({ format }: WebhookEndpoint): object {
  return format === null ? {} : { format };
}

function endpointTable(endpoints: readonly WebhookEndpoint[]): readonly string[] {
  return table(
    ['ENDPOINT', 'MODE', 'STATE', 'EVENTS', 'URL'],
    endpoints.map((endpoint) => [
      encodeId('endpoint', endpoint.id),
      endpoint.mode,
      endpoint.disabledAt !== null ? 'disabled' : endpoint.pausedAt !== null ? 'paused' : 'on',
      `${endpoint.format === null ? '' : `${endpoint.format}: `}${isAll(endpoint) ? 'all' : endpoint.events.join(',')}`,
      endpoint.url,
    ]),
    'There is no webhook endpoint yet. Create one with: cointill webhook create',
  );
}

function isAll({ events, format }: WebhookEndpoint): boolean {
  const all = allOf(format);
  return events.length === all.length && all.every((type) => events.includes(type));
}
