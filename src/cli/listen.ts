import { Option, type Command } from 'commander';
import { createEndpoint, deleteEndpoint } from '../app/webhooks/webhook-endpoints.ts';
import { readConfig } from '../config/config.ts';
import { EVENT_TYPES } from '../domain/event-type.ts';
import { encodeId } from '../domain/id.ts';
import { projectIdOf, wholeNumber } from './arguments.ts';
import { sinceOption, tailLog, typesOption } from './client/events.ts';
import { forwardLog } from './client/forward-log.ts';
import { targetOf } from './client/forward.ts';
import type { Since } from './client/since.ts';
import { CommandFailure, done, reasonOf, UsageFailure } from './failure.ts';
import { withCointill } from './open.ts';
import { writeErrorLines, writeLines } from './output.ts';
import { secretOf } from './received-delivery.ts';
import { openReceiver, receiver, type ReceiverOptions } from './receiver.ts';
import { untilStopSignal } from './signals.ts';

interface ListenOptions extends ReceiverOptions {
  readonly forwardTo?: string;
  readonly since?: Since;
  readonly events?: string;
  readonly retry?: true;
  readonly json?: true;
  readonly port?: number;
  readonly secret?: string;
  readonly project?: string;
}

const USUAL_PORT = 9000;
const MAX_FAILURES = 100;

/** `cointill listen`, which is `cointill webhook listen` too. */
export function addListenCommand(listening: Command): void {
  listening
    .description('receive events on this machine, and pass them on to your server')
    .addOption(
      new Option('--forward-to <url>', 'send each event to this address, such as localhost:3000/webhooks').argParser(
        targetOf,
      ),
    )
    .addOption(sinceOption('where to begin instead of where the last run ended').conflicts(['project', 'port']))
    .addOption(typesOption().conflicts(['project', 'port']))
    .option('--retry', 'send what your server refuses again on the schedule of webhooks')
    .addOption(
      new Option(
        '--fail [n]',
        'fail the first n requests of each event, or all, to see how they are sent again',
      ).argParser(wholeNumber(1, MAX_FAILURES)),
    )
    .addOption(new Option('--secret <secret>', 'sign or verify with this secret').argParser(secretOf))
    .addOption(
      new Option(
        '--project <id>',
        "on the service's machine: receive this project's webhooks of test mode, without a key",
      )
        .argParser(projectIdOf)
        .conflicts('secret'),
    )
    .option(
      '--port <n>',
      `receive webhooks on this port; 0 for any free port (default: ${USUAL_PORT})`,
      wholeNumber(0, 65_535),
    )
    .option('--json', 'print each event as one line of JSON')
    .action(listen);
}

/** With a key it reads the log of events; otherwise it receives webhooks. */
async function listen(options: ListenOptions): Promise<void> {
  const { forwardTo, project, port } = options;
  if (project === undefined && port === undefined && forwardTo !== undefined)
    return forwardLog({ ...options, forwardTo });
  if (options.retry === true)
    throw new UsageFailure('--retry works only with --forward-to, and with an address and a key.');
  if (project !== undefined || port !== undefined) return receive(options);
  const hasKey = process.env['COINTILL_KEY'] !== undefined || process.env['COINTILL_URL'] !== undefined;
  if (!hasKey && options.since === undefined && options.events === undefined) return receive(options);
  if (options.fail !== undefined) throw new UsageFailure('--fail works only with --forward-to, --project or --port.');
  return tailLog(options);
}

async function receive(options: ListenOptions): Promise<void> {
  const { project: projectId = null } = options;
  if (projectId !== null && readConfig(process.env, process.cwd()).production) throw noEndpointHere();
  const stopped = untilStopSignal();
  const ready = Promise.withResolvers<string | null>();
  // There may be nobody waiting for it yet.
  ready.promise.catch(() => {});
  const server = receiver(options, ready.promise);
  const url = await openReceiver(server, options.port ?? (projectId === null ? USUAL_PORT : 0));
  let endpointId: string | null = null;
  try {
    if (projectId === null) {
      announce(options, url, null);
      ready.resolve(options.secret ?? null);
    } else {
      endpointId = await register(projectId, url, (id, secret) => {
        announce(options, url, id);
        ready.resolve(secret);
      });
    }
    await stopped;
  } catch (error) {
    ready.reject(error);
    throw error;
  } finally {
    server.close();
    server.closeAllConnections();
    if (endpointId !== null) await unregister(endpointId);
  }
}

/** Endpoints of production are public and use https, so none can be registered on this machine. */
function noEndpointHere(): CommandFailure {
  return new CommandFailure(
    'With NODE_ENV=production, Cointill sends no webhooks to this machine. Try listen where NODE_ENV is not set, or ' +
      "register the shop's own address with: cointill webhook create --project ID --mode test --url https://… --events all",
  );
}

function announce(options: ListenOptions, url: string, endpointId: string | null): void {
  const lines = [
    `Listening on ${url}${failing(options)}. Stop with Ctrl-C.`,
    ...(endpointId === null
      ? [`To receive webhooks here, run: cointill webhook create --project ID --mode test --url ${url} --events all`]
      : [`Registered as ${encodeId('endpoint', endpointId)} for all events of test mode, until you stop the command.`]),
    '',
  ];
  // With --json, standard output is only for the deliveries.
  if (options.json === true) writeErrorLines(lines);
  else writeLines(lines);
}

function failing({ fail, forwardTo }: ListenOptions): string {
  const passing = forwardTo === undefined ? '' : ` and forwarding to ${forwardTo}`;
  if (fail === undefined) return passing;
  return `${passing} and responding with 500${fail === true ? '' : ` to the first ${fail === 1 ? 'delivery' : `${fail} deliveries`} of each event`}`;
}

/** The database is open only while the endpoint is created, and again while it is deleted. */
function register(
  projectId: string,
  url: string,
  onRegistered: (endpointId: string, secret: string) => void,
): Promise<string> {
  return withCointill(async ({ app, sealingKey, policyOf }) => {
    const request = { projectId, mode: 'test', url, events: EVENT_TYPES.join(',') } as const;
    const { endpoint, secret } = done(await createEndpoint(app, await sealingKey(), policyOf, request));
    onRegistered(endpoint.id, secret);
    return endpoint.id;
  });
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
