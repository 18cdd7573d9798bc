import { Option, type Command } from 'commander';
import { createEndpoint, deleteEndpoint } from '../app/webhooks/webhook-endpoints.ts';
import { readConfig } from '../config/config.ts';
import { EVENT_TYPES } from '../domain/event-type.ts';
import { encodeId } from '../domain/id.ts';
import { projectIdOf } from './arguments.ts';
import {
  addListenOptions,
  listen,
  receive,
  refuseRetry,
  type ListenOptions,
  type Registration,
} from './client/listen.ts';
import { CommandFailure, reasonOf } from './failure.ts';
import { done } from './refusal.ts';
import { withCointill } from './open.ts';

interface OwnOptions extends ListenOptions {
  readonly project?: string;
}

/** `cointill listen`, which is `cointill webhook listen` too. */
export function addListenCommand(listening: Command): void {
  addListenOptions(listening)
    .addOption(
      new Option(
        '--project <id>',
        "on the service's machine: receive this project's webhooks of test mode, without a key",
      )
        .argParser(projectIdOf)
        .conflicts('secret'),
    )
    .action(({ project, ...options }: OwnOptions) => {
      if (project === undefined) return listen(options);
      refuseRetry(options);
      if (readConfig(process.env, process.cwd()).production) throw noEndpointHere();
      return receive(options, registrationOf(project));
    });
}

/** Endpoints of production are public and use https, so none can be registered on this machine. */
function noEndpointHere(): CommandFailure {
  return new CommandFailure(
    'With NODE_ENV=production, Cointill sends no webhooks to this machine. Try listen where NODE_ENV is not set, or ' +
      "register the shop's own address with: cointill webhook create --project ID --mode test --url https://… --events all",
  );
}

/** The database is open only while the endpoint is created, and again while it is deleted. */
function registrationOf(projectId: string): Registration {
  let endpointId: string | null = null;
  return {
    register: (url, begin) =>
      withCointill(async ({ app, sealingKeys, policyOf }) => {
        const request = { projectId, mode: 'test', url, events: EVENT_TYPES.join(',') } as const;
        const { endpoint, secret } = done(await createEndpoint(app, await sealingKeys(), policyOf, request));
        endpointId = endpoint.id;
        const id = encodeId('endpoint', endpoint.id);
        begin(secret, `Registered as ${id} for all events of test mode, until you stop the command.`);
      }),
    unregister: async () => {
      if (endpointId !== null) await unregister(endpointId);
    },
  };
}

async function unregister(endpointId: string): Promise<void> {
  try {
    await withCointill(({ app }) => deleteEndpoint(app, endpointId));
  } catch (error) {
    const id = encodeId('endpoint', endpointId);
    throw new CommandFailure(
      `The temporary endpoint ${id} could not be deleted (${reasonOf(error)}). Delete it with: cointill webhook delete ${id}`,
      { cause: error },
    );
  }
}
