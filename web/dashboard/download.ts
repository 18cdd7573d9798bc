import type { BookingFormat } from '../../src/domain/bookkeeping.ts';
import { useEffect, useRef, useState } from 'react';
import { ApiFault, faultOf } from './api.ts';
import { askToReauthenticate, noteRefusal, useDashboard, type Dashboard } from './dashboard.ts';

/** The progress of a download. */
export interface ExportProgress {
  readonly rows: number;
  readonly bytes: number;
  /** The approximate number of rows; null if unknown. */
  readonly total: number | null;
}

interface ExportedFile {
  readonly name: string;
  readonly content: Blob;
  readonly rows: number;
}

/** Pieces of this size are handed to the browser, which keeps them on disk. */
const PART_BYTES = 8 * 1024 * 1024;
/** More often would keep the page busy with drawing. */
const PROGRESS_MS = 200;
const LINE_FEED = 10;
const QUOTE = 34;

/**
 * Reads a file piece by piece.
 *
 * @throws ApiFault `broken_off` if the file ends early, in which case nothing is kept
 */
async function receiveFile(answer: Response, onProgress: (progress: ExportProgress) => void): Promise<ExportedFile> {
  const about = answer.headers.get('x-rows-about');
  const total = about === null ? null : Number(about);
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let bytes = 0;
  let shownAt = 0;
  const count = lineCounter(headLines(answer.headers.get('content-type') ?? ''));
  const reader = answer.body?.getReader();
  for (;;) {
    const { done, value } = (await reader?.read().catch(brokenOff)) ?? { done: true };
    if (done) break;
    held.push(value);
    heldBytes += value.length;
    bytes += value.length;
    count.take(value);
    if (heldBytes >= PART_BYTES) {
      parts.push(new Blob(held));
      held = [];
      heldBytes = 0;
    }
    if (performance.now() - shownAt > PROGRESS_MS) {
      shownAt = performance.now();
      onProgress({ rows: count.rows(), bytes, total });
    }
  }
  const type = answer.headers.get('content-type') ?? '';
  const name = /filename="([^"]+)"/.exec(answer.headers.get('content-disposition') ?? '')?.[1] ?? 'payments';
  return { name, content: new Blob([...parts, ...held], { type }), rows: count.rows() };
}

/** Throws that an answer ended early. A stopped request throws too, but is not reported. */
export function brokenOff(): never {
  throw new ApiFault(0, 'broken_off', '', null);
}

/** The number of lines before the rows: the columns' names, and before them in a file for DATEV the batch. */
function headLines(contentType: string): number {
  if (!contentType.startsWith('text/csv')) return 0;
  return contentType.endsWith('windows-1252') ? 2 : 1;
}

/** Counts rows: line feeds, outside of quotes in a CSV file, without its head. */
function lineCounter(heads: number) {
  let lines = 0;
  let isQuoted = false;
  return {
    take: (piece: Uint8Array): void => {
      for (const byte of piece) {
        if (byte === QUOTE && heads > 0) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) lines += 1;
      }
    },
    rows: (): number => Math.max(0, lines - heads),
  };
}

/** Saves a file as a download of the browser. */
export function saveFile({ name, content }: Pick<ExportedFile, 'name' | 'content'>): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // By then the browser has copied the content.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

interface Stream<Progress> {
  readonly url: string;
  /** The progress before anything has arrived. */
  readonly first: Progress;
  /** Reads the answer, and reports the progress. */
  readonly take: (answer: Response, report: (progress: Progress) => void) => Promise<void>;
  readonly onFault?: (fault: unknown) => void;
}

interface Running<Progress> {
  /** The progress; null if nothing is running. */
  readonly progress: Progress | null;
  readonly fault: unknown;
  readonly start: (body: object) => void;
  readonly stop: () => void;
}

/**
 * Asks for what is sent while it is made, one at a time. Another start, `stop` and leaving the page stop it, here and
 * on the server.
 */
export function useStream<Progress>({ url, first, take, onFault }: Stream<Progress>): Running<Progress> {
  const dashboard = useDashboard();
  const [fault, setFault] = useState<unknown>(null);
  const [progress, show] = useState<Progress | null>(null);
  const running = useRef<AbortController | null>(null);
  useEffect(() => () => running.current?.abort(), []);
  const stop = (): void => {
    running.current?.abort();
    show(null);
  };
  const run = async (body: object): Promise<void> => {
    stop();
    const { signal } = (running.current = new AbortController());
    setFault(null);
    show(() => first);
    try {
      await take(await request(dashboard, url, body, signal), show);
    } catch (error) {
      if (signal.aborted) return;
      noteRefusal(dashboard, error);
      setFault(error);
      onFault?.(error);
    } finally {
      // A stopped one has ended already, or was replaced by the next.
      if (!signal.aborted) show(null);
    }
  };
  return { progress, fault, start: (body) => void run(body), stop };
}

/** @throws ApiFault if the server refuses; `offline` if there is no answer */
async function request(dashboard: Dashboard, url: string, body: object, signal: AbortSignal): Promise<Response> {
  const answer = await fetch(url, {
    method: 'POST',
    credentials: 'same-origin',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
    signal,
  }).catch(() => {
    throw new ApiFault(0, 'offline', '', null);
  });
  if (answer.ok) return answer;
  const fault = faultOf(answer.status, await answer.json().catch(() => null));
  if (fault.type !== 'reauthentication_required') throw fault;
  if (!(await askToReauthenticate(dashboard.reauthentication))) throw fault;
  return request(dashboard, url, body, signal);
}

/** Downloads a file and saves it. */
export function useDownload(url: string, onDone: (file: ExportedFile) => void, onFault?: (fault: unknown) => void) {
  return useStream<ExportProgress>({
    url,
    first: { rows: 0, bytes: 0, total: null },
    take: async (answer, report) => {
      const file = await receiveFile(answer, report);
      saveFile(file);
      onDone(file);
    },
    ...(onFault !== undefined && { onFault }),
  });
}

/** The formats of files. */
export const FORMATS = ['csv', 'semicolon', 'jsonl'] as const;
export type Format = (typeof FORMATS)[number];

/** A format in the server's terms. */
export function formatOf(format: Format | BookingFormat): object {
  return format === 'semicolon' ? { format: 'csv', separator: 'semicolon' } : { format };
}

const KIB = 1_024;

/** The size as `12 KB`, or `3 MB`. */
export function sizeText(bytes: number, number: (value: number) => string): string {
  return bytes < KIB * KIB ? `${number(Math.ceil(bytes / KIB))} KB` : `${number(Math.round(bytes / KIB / KIB))} MB`;
}
