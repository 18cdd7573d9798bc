import type { ExportRequest } from '../../src/http/dashboard/payment-list/contract.ts';
import { ApiFault, faultOf, urlOf } from './api.ts';
import type { Scope } from './scope.ts';
import { useEffect, useRef } from 'react';

/** How far a download is. */
export interface ExportProgress {
  readonly rows: number;
  readonly bytes: number;
  /** About how many rows there are; null if nobody knows. */
  readonly total: number | null;
}

interface ExportedFile {
  readonly name: string;
  readonly content: Blob;
  readonly rows: number;
}

const PATH = '/dashboard/api/projects/:project/:mode/payments/export';

interface Watching {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: ExportProgress) => void;
}

/** Pieces of this size are handed to the browser, which keeps them on disk. */
const PART_BYTES = 8 * 1024 * 1024;
/** More often would keep the page busy with drawing. */
const PROGRESS_MS = 200;
const LINE_FEED = 10;
const QUOTE = 34;

/**
 * Downloads a file of payments piece by piece. The server stops when `signal` does.
 *
 * @throws ApiFault if the server refuses; `offline` if the file breaks off, in which case nothing of it is kept
 */
export function downloadPayments(scope: Scope, request: ExportRequest, watching: Watching): Promise<ExportedFile> {
  return downloadFile(urlOf(PATH, { params: { ...scope } }), request, watching);
}

/** The same for any file; `request` is what is sent for it. */
export async function downloadFile(
  url: string,
  request: object,
  { signal, onProgress }: Watching,
): Promise<ExportedFile> {
  return receiveFile(await requestFile(url, request, signal), onProgress, signal);
}

/** Takes a file as it comes; throws as above. */
export async function receiveFile(
  answer: Response,
  onProgress: (progress: ExportProgress) => void,
  signal?: AbortSignal,
): Promise<ExportedFile> {
  if (!answer.ok || answer.body === null) throw faultOf(answer.status, await answer.json().catch(() => null));
  const about = answer.headers.get('x-rows-about');
  const total = about === null ? null : Number(about);
  const parts: Blob[] = [];
  let held: Uint8Array<ArrayBuffer>[] = [];
  let heldBytes = 0;
  let bytes = 0;
  let shownAt = 0;
  const isCsv = answer.headers.get('content-type')?.startsWith('text/csv') === true;
  const count = lineCounter(isCsv);
  const reader = answer.body.getReader();
  for (;;) {
    const { done, value } = await reader.read().catch((error: unknown) => {
      throw signal?.aborted === true ? error : new ApiFault(0, 'broken_off', '', null);
    });
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

/**
 * Asks for what is sent piece by piece.
 *
 * @throws ApiFault `offline` if there is no answer
 */
export async function requestFile(url: string, request: object, signal: AbortSignal): Promise<Response> {
  try {
    return await fetch(url, {
      method: 'POST',
      credentials: 'same-origin',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(request),
      signal,
    });
  } catch (error) {
    throw signal.aborted ? error : new ApiFault(0, 'offline', '', null);
  }
}

/** Counts rows: line feeds outside of quotes, without the head of a CSV file. */
function lineCounter(isCsv: boolean) {
  let lines = 0;
  let isQuoted = false;
  return {
    take: (piece: Uint8Array): void => {
      for (const byte of piece) {
        if (byte === QUOTE && isCsv) isQuoted = !isQuoted;
        else if (byte === LINE_FEED && !isQuoted) lines += 1;
      }
    },
    rows: (): number => Math.max(0, lines - (isCsv ? 1 : 0)),
  };
}

/** Hands a file to the browser's downloads. */
export function saveFile({ name, content }: Pick<ExportedFile, 'name' | 'content'>): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has taken it over by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** One request at a time: beginning another stops the one before, and so does leaving the page. */
export function useAbort(): { readonly begin: () => AbortController; readonly stop: () => void } {
  const running = useRef<AbortController | null>(null);
  const stop = (): void => running.current?.abort();
  useEffect(() => stop, []);
  const begin = (): AbortController => {
    stop();
    running.current = new AbortController();
    return running.current;
  };
  return { begin, stop };
}
