import { buffer } from 'node:stream/consumers';
import { Option, type Command } from 'commander';
import { CommandFailure, UsageFailure } from '../failure.ts';
import { print, printsRecord, type OutputOptions } from '../output.ts';
import { readDelivery, secretOf, type SignatureCheck } from './received-delivery.ts';
import { parseExact } from './log.ts';

interface Request {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer<ArrayBuffer>;
}

interface VerifyOptions extends OutputOptions {
  readonly secret: string;
}

/** `cointill verify`: an HTTP request on standard input. */
export function addVerifyCommand(verify: Command): void {
  printsRecord(verify)
    .addOption(new Option('--secret <secret>', "the endpoint's secret").argParser(secretOf).makeOptionMandatory())
    .action(async ({ secret, ...options }: VerifyOptions) => {
      if (process.stdin.isTTY) {
        throw new UsageFailure(
          'Give the request as it came, its headers and its body: cointill verify --secret whsec_… < request.txt',
        );
      }
      const request = requestIn(Buffer.from(await buffer(process.stdin)));
      const { service, standard, hints } = verdict(request, secret, Date.now() / 1_000);
      print(options, { service_signature: service, standard_signature: standard, hints }, () => [
        `x-service-signature  ${service}`,
        `webhook-signature    ${standard}`,
        ...hints.map((hint) => `- ${hint}`),
      ]);
      const isVerified = service === 'verified' && (standard === 'verified' || standard === 'stale');
      if (!isVerified) throw new CommandFailure('The request is not verified.');
    });
}

/** Splits a request into headers and body; a request line is left out. @throws CommandFailure if there is no body */
export function requestIn(bytes: Buffer<ArrayBuffer>): Request {
  const end = [bytes.indexOf('\r\n\r\n'), bytes.indexOf('\n\n')].filter((at) => at >= 0);
  const at = Math.min(...end);
  if (end.length === 0) {
    throw new CommandFailure(
      'The request has no body: after its headers, an empty line and the body must follow. Save the request exactly as your server received it.',
    );
  }
  const lines = bytes.subarray(0, at).toString('latin1').split(/\r?\n/);
  const headers = lines.flatMap((line): readonly [string, string][] => {
    const [, name, value] = /^([\w-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? [];
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value]];
  });
  return { headers: Object.fromEntries(headers), body: bytes.subarray(bytes[at] === 13 ? at + 4 : at + 2) };
}

interface Verdict {
  readonly service: SignatureCheck;
  readonly standard: SignatureCheck;
  /** Reasons, and ways out. */
  readonly hints: readonly string[];
}

/** Checks both signatures, and finds out why one is wrong. `nowSeconds` is Unix time. */
export function verdict({ headers, body }: Request, secret: string, nowSeconds: number): Verdict {
  const check = (bytes: Buffer<ArrayBuffer>) => readDelivery(headers, bytes, secret, nowSeconds);
  const { serviceSignature: service, standardSignature: standard } = check(body);
  const hints = [
    ...missing(headers),
    ...cutOff(headers, body),
    ...(standard === 'stale' ? [staleness(headers, nowSeconds)] : []),
    ...(service === 'wrong' ? formOf(headers['x-service-signature'] ?? '') : []),
  ];
  return { service, standard, hints: hints.length > 0 && standard !== 'stale' ? hints : [...hints, ...causes()] };

  /** Causes that neither a header nor the length shows. */
  function causes(): readonly string[] {
    const isRightStandard = standard === 'verified' || standard === 'stale';
    if (standard === 'wrong' && service === 'verified') return [CHANGED_HEADERS];
    if (service === 'wrong' && isRightStandard) return [isRotating(headers) ? OLD_SECRET : CHANGED_SERVICE];
    if (service !== 'wrong' && standard !== 'wrong') return [];
    const spelled = spellings(body).find(({ bytes }) => isRight(check(bytes)));
    return [spelled?.hint ?? OTHER_SECRET];
  }
}

const CHANGED_HEADERS =
  'The secret and the body are right, so webhook-id, webhook-timestamp or webhook-signature was changed on its way.';
const CHANGED_SERVICE = 'The secret and the body are right, so x-service-signature was changed on its way.';
const OLD_SECRET =
  'This is the secret before the last rotation: until it ends, it signs webhook-signature alone. Use the new secret.';
const OTHER_SECRET =
  'This secret did not sign this body. It belongs to another endpoint or mode, or was rotated; or the body was changed: a value, or the order of its fields.';

/** While two secrets sign, there are two signatures. */
function isRotating({ 'webhook-signature': signatures = '' }: Request['headers']): boolean {
  return signatures.trim().split(' ').length > 1;
}

function isRight({ serviceSignature, standardSignature }: ReturnType<typeof readDelivery>): boolean {
  return serviceSignature === 'verified' || standardSignature === 'verified' || standardSignature === 'stale';
}

function missing(headers: Request['headers']): readonly string[] {
  const names = ['x-service-signature', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const absent = names.filter((name) => (headers[name] ?? '') === '');
  if (absent.length === 0) return [];
  return [
    `The request lacks ${absent.join(', ')}. A proxy in front of your server may remove headers, or Cointill did not send it.`,
  ];
}

function cutOff({ 'content-length': length = '' }: Request['headers'], body: Buffer): readonly string[] {
  if (!/^\d+$/.test(length) || Number(length) === body.length) return [];
  return [
    `Content-Length is ${length}, but the body has ${body.length} bytes: it was cut off, or changed after it came.`,
  ];
}

function staleness({ 'webhook-timestamp': timestamp }: Request['headers'], nowSeconds: number): string {
  const seconds = Math.round(nowSeconds - Number(timestamp));
  const how = seconds > 0 ? `${seconds} seconds old` : `${-seconds} seconds in the future`;
  return `The signature is right. webhook-timestamp is ${how}, which a saved request may be. A server refuses more than five minutes: was it sent again, or is a clock wrong?`;
}

function formOf(signature: string): readonly string[] {
  if (/^[0-9a-f]{64}$/.test(signature)) return [];
  return ['x-service-signature is not 64 lowercase hex digits, so that something changed it on its way.'];
}

/** Other spellings of the body: the bytes that Cointill signs are compact JSON without a line end. */
function spellings(body: Buffer): readonly { readonly bytes: Buffer<ArrayBuffer>; readonly hint: string }[] {
  const text = body.toString('utf8');
  const trimmed = {
    bytes: Buffer.from(text.trim()),
    hint: 'The body has spaces or a line end that were not sent. Sign over the bytes as they came.',
  };
  try {
    const compact = JSON.stringify(parseExact(text));
    return [
      trimmed,
      {
        bytes: Buffer.from(compact),
        hint: 'The body was written anew: your server parsed the JSON and wrote it again. Verify the raw bytes before you parse them.',
      },
    ];
  } catch {
    return [trimmed];
  }
}
