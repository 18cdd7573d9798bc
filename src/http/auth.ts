import type { Access, AccessKey, ProjectAccess } from '../app/projects/access.ts';
import { compileCidrs, isOn, type AllowList } from '../app/projects/allow-list.ts';
import { checkPermission, type Mode, type Operation } from '../domain/permission.ts';
import { RequestError, type HttpApi } from './errors.ts';

/** The keys that this address accepts on an API, and where it sends the others. */
export interface KeyPolicy {
  /** The mode of the address that was called. */
  readonly side: Mode;
  readonly baseUrls: Readonly<Record<Mode, string>>;
}

/** An existing key was used at the address of the other mode. */
export class WrongAddressError extends RequestError {
  readonly key: AccessKey;

  constructor(key: AccessKey, message: string) {
    super('authentication_error', message);
    this.key = key;
  }
}

/**
 * A key in the shortened form of documentation and terminals. Headers arrive as Latin-1, in which `…` is three
 * characters.
 */
const SHORTENED = /^[sp]k_(?:test|live)_\w*(?:\.{2,3}|\u2026|\u00E2\u0080\u00A6)$/;
const CUT_OFF =
  'Invalid API key. It ends in dots because it was copied from a place where keys are shortened. Send the whole key. It was shown only once, when it was created.';

const BEARER = /^bearer +(\S+) *$/i;
/** Clients of Greenfield say `token`, as BTCPay Server does. */
const TOKEN = /^(?:token|bearer) +(\S+) *$/i;

/** The key in an `Authorization: Bearer …` header, or why there is none. */
export function readBearer(header: string | undefined, api: HttpApi = 'v1'): string | RequestError {
  const scheme = api === 'greenfield' ? 'token' : 'Bearer';
  if (header === undefined || header === '') {
    return new RequestError(
      'authentication_error',
      `The API key is missing. Send the header Authorization: ${scheme} <API_KEY>.`,
    );
  }
  const match = (api === 'greenfield' ? TOKEN : BEARER).exec(header);
  if (match?.[1] === undefined) {
    return new RequestError('authentication_error', `The Authorization header must be: ${scheme} <API_KEY>.`);
  }
  return match[1];
}

/**
 * Finds the key and checks that it belongs to this address; synchronous if the key is cached. `admit` is called before
 * an unknown key is looked up.
 */
export function authenticate(
  access: Access,
  header: string | undefined,
  api: HttpApi,
  policy: KeyPolicy,
  admit: () => Promise<void>,
): AccessKey | RequestError | Promise<AccessKey | RequestError> {
  const keyText = readBearer(header, api);
  if (keyText instanceof RequestError) return keyText;
  if (SHORTENED.test(keyText)) return new RequestError('authentication_error', CUT_OFF);
  const found = access.find(keyText, admit);
  return found instanceof Promise ? found.then((key) => checkSide(key, api, policy)) : checkSide(found, api, policy);
}

function checkSide(key: AccessKey | null, api: HttpApi, { side, baseUrls }: KeyPolicy): AccessKey | RequestError {
  if (key === null) return new RequestError('authentication_error', 'Invalid API key.');
  // The Transaction API is documented only at the live address, so it accepts keys of both modes there.
  const fits = key.mode === side || (api === 'transactions' && side === 'live');
  if (fits) return key;
  return new WrongAddressError(
    key,
    `Invalid API key for this address. This is a ${key.mode} key, so use it at ${baseUrls[key.mode]}.`,
  );
}

/** Whether the project's allow-list lets the key in from an address. Public keys work from anywhere. */
export function isLetIn(key: AccessKey, address: string): boolean {
  return key.kind !== 'secret' || isAllowed(key.project, address);
}

/** Why a key's project or permissions forbid the request: allow-list, project active, permission, in this order. */
export function authorise(
  key: AccessKey,
  address: string,
  operation: Operation | null,
  api: HttpApi,
): RequestError | null {
  if (!isLetIn(key, address)) {
    return new RequestError('permission_error', 'This IP address is not on the allow-list of the project.');
  }
  if (!key.project.active) {
    return new RequestError('permission_error', 'The project is not active.', { ownShape: api === 'transactions' });
  }
  if (api === 'greenfield' && key.kind === 'public') {
    return new RequestError('permission_error', 'A public key cannot be used here. Use a secret key.');
  }
  if (operation === null) return null;
  const checked = checkPermission(key, operation);
  return checked.kind === 'allowed' ? null : new RequestError('permission_error', checked.message);
}

/**
 * Authorises a request again that waited: its key may have been revoked meanwhile.
 *
 * @throws RequestError if it is not allowed any more
 */
export async function authoriseAgain(
  access: Access,
  request: { readonly header: string | undefined; readonly address: string },
  operation: Operation,
): Promise<void> {
  const keyText = readBearer(request.header);
  const key = keyText instanceof RequestError ? null : await access.find(keyText);
  if (key === null) throw new RequestError('authentication_error', 'Invalid API key.');
  const refusal = authorise(key, request.address, operation, 'v1');
  if (refusal !== null) throw refusal;
}

const compiled = new WeakMap<ProjectAccess, AllowList>();

/** Whether the project's allow-list contains the address; an empty list allows every address. */
function isAllowed(project: ProjectAccess, address: string): boolean {
  if (project.allowIps.length === 0) return true;
  let list = compiled.get(project);
  if (list === undefined) {
    list = compileCidrs(project.allowIps);
    compiled.set(project, list);
  }
  return isOn(list, address);
}
