import { Option, type Command } from 'commander';
import { wholeNumber } from '../arguments.ts';
import { UsageFailure } from '../failure.ts';
import { writeErrorLines, writeLines } from '../output.ts';
import { untilStopSignal } from '../signals.ts';
import { sinceOption, tailLog, typesOption } from './events.ts';
import { forwardLog } from './forward-log.ts';
import { targetOf } from './forward.ts';
import { secretOf } from './received-delivery.ts';
import { openReceiver, receiver, type ReceiverOptions } from './receiver.ts';
import type { Since } from './since.ts';

export interface ListenOptions extends ReceiverOptions {
  readonly forwardTo?: string;
  readonly since?: Since;
  readonly events?: string;
  readonly retry?: true;
  readonly json?: true;
  readonly port?: number;
  readonly secret?: string;
}

const USUAL_PORT = 9000;
const MAX_FAILURES = 100;

/** The options of `listen` that need at most an address and a key. */
export function addListenOptions(listening: Command): Command {
  return listening
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
    .option(
      '--port <n>',
      `receive webhooks on this port; 0 for any free port (default: ${USUAL_PORT})`,
      wholeNumber(0, 65_535),
    )
    .option('--json', 'print each event as one line of JSON');
}

/** With a key it reads the log of events; otherwise it receives webhooks. */
export async function listen(options: ListenOptions): Promise<void> {
  const { forwardTo, port } = options;
  if (port === undefined && forwardTo !== undefined) return forwardLog({ ...options, forwardTo });
  refuseRetry(options);
  if (port !== undefined) return receive(options);
  const hasKey = process.env['COINTILL_KEY'] !== undefined || process.env['COINTILL_URL'] !== undefined;
  if (!hasKey && options.since === undefined && options.events === undefined) return receive(options);
  if (options.fail !== undefined) throw new UsageFailure('--fail works only with --forward-to, --project or --port.');
  return tailLog(options);
}

/** @throws UsageFailure if the service itself would have to send again */
export function refuseRetry({ retry }: ListenOptions): void {
  if (retry === true) throw new UsageFailure('--retry works only with --forward-to, and with an address and a key.');
}

/** An endpoint of the service for the time of a run. */
export interface Registration {
  /** Registers the address. `begin` must be called with the secret once output may begin. */
  readonly register: (url: string, begin: (secret: string, line: string) => void) => Promise<void>;
  readonly unregister: () => Promise<void>;
}

/** Receives webhooks until it is stopped. Without a registration, the address is to be registered by hand. */
export async function receive(options: ListenOptions, registration?: Registration): Promise<void> {
  const stopped = untilStopSignal();
  let begin = (_secret: string | null): void => {};
  const ready = new Promise<string | null>((resolve) => (begin = resolve));
  const server = receiver(options, ready);
  const url = await openReceiver(server, options.port ?? (registration === undefined ? USUAL_PORT : 0));
  try {
    if (registration === undefined) {
      announce(
        options,
        url,
        `To receive webhooks here, run: cointill webhook create --project ID --mode test --url ${url} --events all`,
      );
      begin(options.secret ?? null);
    } else {
      await registration.register(url, (secret, line) => {
        announce(options, url, line);
        begin(secret);
      });
    }
    await stopped;
  } finally {
    server.close();
    server.closeAllConnections();
    await registration?.unregister();
  }
}

function announce(options: ListenOptions, url: string, line: string): void {
  const lines = [`Listening on ${url}${failing(options)}. Stop with Ctrl-C.`, line, ''];
  // With --json, standard output is only for the deliveries.
  if (options.json === true) writeErrorLines(lines);
  else writeLines(lines);
}

function failing({ fail, forwardTo }: ListenOptions): string {
  const passing = forwardTo === undefined ? '' : ` and forwarding to ${forwardTo}`;
  if (fail === undefined) return passing;
  return `${passing} and responding with 500${fail === true ? '' : ` to the first ${fail === 1 ? 'delivery' : `${fail} deliveries`} of each event`}`;
}
