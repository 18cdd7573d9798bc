import { once } from 'node:events';
import http from 'node:http';
import { Option, InvalidArgumentError, type Command } from 'commander';
import { createEndpoint, deleteEndpoint } from '../app/webhooks/webhook-endpoints.ts';
import { readConfig } from '../config/config.ts';
import { EVENT_TYPES } from '../domain/event-type.ts';
import { encodeId } from '../domain/id.ts';
import { projectIdOf, wholeNumber } from './arguments.ts';
import { codeOf, CommandFailure, done, reasonOf } from './failure.ts';
import { withCointill } from './open.ts';
import { writeErrorLines, writeLines, type OutputOptions } from './output.ts';
import { deliveryLines, deliveryRecord, readDelivery } from './received-delivery.ts';
import { untilStopSignal } from './signals.ts';

interface ListenOptions extends OutputOptions {
  readonly port: number;
  readonly secret?: string;
  readonly project?: string;
  readonly fail?: boolean;
}

const HOST = '127.0.0.1';
/** Larger than any event; a longer body comes from another program. */
const MAX_BODY_BYTES = 1024 * 1024;

/** `cointill webhook listen`. */
export function addListenCommand(webhook: Command): void {
  webhook
    .command('listen')
    .description('receive webhooks on this machine, verify their signatures and print them')
    .option('--port <n>', 'the local port; 0 for any free port', wholeNumber(0, 65_535), 9000)
    .addOption(new Option('--secret <secret>', "the endpoint's secret, to verify signatures").argParser(secretOf))
    .addOption(
      new Option('--project <id>', 'register a temporary test endpoint in this project')
        .argParser(projectIdOf)
        .conflicts('secret'),
    )
    .option('--fail', 'respond with 500, to see how Cointill retries')
    .option('--json', 'print each delivery as one line of JSON')
    .action(listen);
}

/** Parses `--secret`; the message does not repeat it. */
function secretOf(text: string): string {
  const base64 = /^whsec_([A-Za-z0-9+/]+=*)$/.exec(text.trim())?.[1];
  if (base64 !== undefined) return text.trim();
  throw new InvalidArgumentError('A secret is whsec_ followed by base64 characters.');
}

async function listen(options: ListenOptions): Promise<void> {
  const { project: projectId = null } = options;
  if (projectId !== null && readConfig(process.env, process.cwd()).production) throw noEndpointHere();
  const stopped = untilStopSignal();
  const ready = Promise.withResolvers<string | null>();
  // There may be nobody waiting for it yet.
  ready.promise.catch(() => {});
  const server = receiver(options, ready.promise);
  const port = await openPort(server, options.port);
  const url = `http://${HOST}:${port}/`;
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
    'With NODE_ENV=production, Cointill sends no webhooks to this machine. Try webhook listen where NODE_ENV is not set, or ' +
      "register the shop's own address with: cointill webhook create --project ID --mode test --url https://… --events all",
  );
}

function announce(options: ListenOptions, url: string, endpointId: string | null): void {
  const lines = [
    `Listening on ${url}${options.fail === true ? ' and responding with 500' : ''}. Stop with Ctrl-C.`,
    ...(endpointId === null
      ? [`To receive webhooks here, run: cointill webhook create --project ID --mode test --url ${url} --events all`]
      : [`Registered as ${encodeId('endpoint', endpointId)} for all events of test mode, until you stop the command.`]),
    '',
  ];
  // With --json, standard output is only for the deliveries.
  if (options.json === true) writeErrorLines(lines);
  else writeLines(lines);
}

async function openPort(server: http.Server, port: number): Promise<number> {
  try {
    server.listen(port, HOST);
    await once(server, 'listening');
  } catch (error) {
    if (codeOf(error) === 'EADDRINUSE') {
      throw new CommandFailure(`Another program is using port ${port}. Choose another port with --port.`, {
        cause: error,
      });
    }
    if (codeOf(error) === 'EACCES') {
      throw new CommandFailure(`This user may not use port ${port}. Choose a port above 1023 with --port.`, {
        cause: error,
      });
    }
    throw error;
  }
  const address = server.address();
  return address === null || typeof address === 'string' ? port : address.port;
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

/** A server that answers every POST at once and prints it. `ready` resolves with the secret once output may begin. */
function receiver(options: ListenOptions, ready: Promise<string | null>): http.Server {
  const timesSeen = new Map<string, number>();
  const status = options.fail === true ? 500 : 200;

  const receive = async (request: http.IncomingMessage, response: http.ServerResponse): Promise<void> => {
    if (request.method !== 'POST') {
      response.writeHead(405, { allow: 'POST' }).end('Send webhooks with POST.\n');
      return;
    }
    const body = await readBody(request);
    if (body === null) {
      response.writeHead(413, { connection: 'close' }).end('This body is too long for a webhook.\n');
      return;
    }
    const secret = await ready;
    const delivery = readDelivery(request.headers, body, secret, Date.now() / 1000);
    const eventId = delivery.event.id ?? '';
    const attempt = (timesSeen.get(eventId) ?? 0) + 1;
    if (eventId !== '') timesSeen.set(eventId, attempt);
    if (options.json === true) process.stdout.write(`${JSON.stringify(deliveryRecord(delivery, attempt, status))}\n`);
    else writeLines(deliveryLines(delivery, attempt, status));
    response.writeHead(status, { 'content-type': 'text/plain' }).end(status === 200 ? 'ok\n' : 'failed on purpose\n');
  };

  return http.createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  });
}

/** The whole body, or null if it is longer than any event. */
async function readBody(request: http.IncomingMessage): Promise<Buffer | null> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    const bytes = Buffer.from(chunk);
    length += bytes.length;
    if (length > MAX_BODY_BYTES) return null;
    chunks.push(bytes);
  }
  return Buffer.concat(chunks);
}
