import { nextAttemptDelayMs } from '../../domain/retry-schedule.ts';
import { reasonOf } from '../failure.ts';
import { writeErrorLines, writeLines } from '../output.ts';
import { untilStopSignal } from '../signals.ts';
import { FAILED_ON_PURPOSE, forwardEvent, type Forwarded } from './forward.ts';
import { followLog, pauseFor } from './follow.ts';
import { onKey } from './keys.ts';
import { entryLines, entryRecord } from './log-lines.ts';
import { readLog, type LogEntry, type LoggedEvent } from './log.ts';
import { keptSecret, openPosition, type KeptPosition } from './kept.ts';
import { serviceOf, type Service } from './service.ts';
import { cursorOf, type Since } from './since.ts';

export interface ForwardOptions {
  readonly forwardTo: string;
  readonly since?: Since;
  readonly events?: string;
  /** How many requests of each event fail without being sent; true: all of them. */
  readonly fail?: number | true;
  readonly secret?: string;
  readonly retry?: true;
  readonly json?: true;
}

const SERVER_PAUSE_MS = 1_000;
const MAX_NAMED = 3;

type EventEntry = Extract<LogEntry, { readonly event: object }>;

/** An event that the shop's server has not accepted. */
interface Open {
  readonly entry: EventEntry;
  attempts: number;
  timer?: NodeJS.Timeout;
}

/**
 * Forwards the events of the key's project to a server that the service cannot reach, first those since the last time.
 * The position is kept after each event, so that a kill repeats at most one.
 */
export async function forwardLog(options: ForwardOptions): Promise<void> {
  const service = serviceOf(process.env);
  const stopped = new AbortController();
  void untilStopSignal().then(() => stopped.abort());
  const say = (...lines: readonly string[]): void => (options.json === true ? writeErrorLines : writeLines)(lines);
  const { project, head, oldest } = await readLog(service, { after: 'now', limit: 1, signal: stopped.signal });
  const log = { ...service, project };
  const kept = openPosition(log, process.env);
  const secret = keptSecret(log, options.secret, process.env);
  const forwarder = createForwarder(options, secret, stopped.signal, say);
  try {
    const after = await beginning(service, options, kept, { head, oldest }, stopped.signal);
    const keys = onKey('r', forwarder.again);
    say(...announcement(service, options, secret, { after, head, hasKeys: keys !== null }));
    const save = savingTo(kept, say);
    // Events that come while nothing was forwarded yet belong to the next run.
    if (after !== kept.position && /^\d+$/.test(after)) save(after);
    await followLog(service, {
      after,
      types: options.events,
      stopped: stopped.signal,
      say,
      onPage: save,
      onEntry: async (entry) => {
        if (await forwarder.take(entry)) save(String(entry.position));
      },
    }).finally(() => keys?.end());
  } finally {
    forwarder.end();
    kept.close();
  }
}

/** Where this run begins: where it is told to, where the last one ended, or now. */
async function beginning(
  service: Service,
  { since }: ForwardOptions,
  kept: KeptPosition,
  { head, oldest }: { readonly head: number; readonly oldest: number },
  signal: AbortSignal,
): Promise<string> {
  if (since !== undefined) {
    const after = await cursorOf(service, since, signal);
    return after === 'now' ? String(head) : after === 'start' ? String(oldest - 1) : after;
  }
  return kept.position ?? String(head);
}

function announcement(
  { url, mode }: Service,
  { forwardTo, fail, retry }: ForwardOptions,
  secret: string,
  { after, head, hasKeys }: { readonly after: string; readonly head: number; readonly hasKeys: boolean },
): readonly string[] {
  const missed = /^\d+$/.test(after) ? head - Number(after) : 0;
  return [
    `Forwarding ${mode} events of ${url} to ${forwardTo}. Stop with Ctrl-C.`,
    `They are signed with ${secret}`,
    ...(fail === undefined ? [] : [`${failures(fail)} of each event fails without being sent.`]),
    ...(missed > 0 ? [`The log has ${missed === 1 ? '1 event' : `${missed} events`} since #${after}.`] : []),
    ...(after === String(head)
      ? ['Waiting for the next event. For earlier ones, add --since 24h or --since start.']
      : []),
    retry === true
      ? 'What your server refuses is sent again as the service would: after 1 minute, 5 minutes, and so on.'
      : `What your server refuses is sent again ${hasKeys ? 'if you press r, or ' : ''}with: cointill events resend evt_… --forward-to ${forwardTo}`,
    '',
  ];
}

function failures(fail: number | true): string {
  if (fail === true) return 'Every request';
  return fail === 1 ? 'The first request' : `Each of the first ${fail} requests`;
}

/** Keeps the position; a disk that does not take it is told once. */
function savingTo(kept: KeptPosition, say: (line: string) => void): (position: string) => void {
  let isTold = false;
  return (position) => {
    try {
      kept.save(position);
      isTold = false;
    } catch (error) {
      if (!isTold) {
        say(
          `The position could not be kept in ${kept.file} (${reasonOf(error)}). After a restart, some events are sent again.`,
        );
      }
      isTold = true;
    }
  };
}

function createForwarder(
  options: ForwardOptions,
  secret: string,
  stopped: AbortSignal,
  say: (...lines: readonly string[]) => void,
) {
  const { forwardTo, json, retry } = options;
  const failing = options.fail === true ? Infinity : (options.fail ?? 0);
  const open = new Map<string, Open>();
  let isWaiting = false;

  const tell = (entry: LogEntry, forwarded: Forwarded | null, attempt: number): void => {
    if (json === true) process.stdout.write(`${JSON.stringify(entryRecord(entry, forwarded, attempt))}\n`);
    else writeLines(entryLines(entry, forwarded, attempt));
  };

  /** Sends an event once there is a server: nobody wants to find a day's events among the refused ones. */
  const reach = async (event: LoggedEvent): Promise<Forwarded> => {
    for (;;) {
      const forwarded = await forwardEvent(forwardTo, secret, event, stopped);
      if (forwarded.isReached || stopped.aborted) {
        if (isWaiting && forwarded.isReached) say('Your server answers.');
        isWaiting = false;
        return forwarded;
      }
      if (!isWaiting) say(`${forwardTo}: ${forwarded.answer}. Waiting for your server.`);
      isWaiting = true;
      await pauseFor(SERVER_PAUSE_MS, stopped);
    }
  };

  /** False if it was stopped before there was a server. */
  const send = async (one: Open): Promise<boolean> => {
    clearTimeout(one.timer);
    one.attempts += 1;
    const { entry, attempts } = one;
    const forwarded = attempts <= failing ? FAILED_ON_PURPOSE : await reach(entry.event);
    if (!forwarded.isReached) return false;
    tell(entry, forwarded, attempts);
    if (forwarded.isAccepted) open.delete(entry.event.id);
    else {
      open.set(entry.event.id, one);
      const delay = retry === true && !stopped.aborted ? nextAttemptDelayMs(attempts) : null;
      if (delay !== null) one.timer = setTimeout(() => void send(one), delay);
    }
    return true;
  };

  return {
    take: async (entry: LogEntry): Promise<boolean> => {
      if ('event' in entry) return send({ entry, attempts: 0 });
      tell(entry, null, 1);
      return true;
    },
    /** Sends everything again that was refused. */
    again: async (): Promise<void> => {
      if (open.size === 0) say(isWaiting ? 'Waiting for your server.' : 'Your server has accepted everything.');
      for (const one of open.values()) await send(one);
    },
    end: (): void => {
      for (const { timer } of open.values()) clearTimeout(timer);
      if (open.size === 0) return;
      const ids = [...open.keys()].slice(0, MAX_NAMED).join(', ');
      const others = open.size > MAX_NAMED ? ` and ${open.size - MAX_NAMED} more` : '';
      const command = `cointill events resend ID --forward-to ${forwardTo}`;
      say(`Your server did not accept ${ids}${others}. Send one again with: ${command}`);
    },
  };
}
