import type { AccessKey } from '../app/projects/access.ts';
import { invalid } from './errors.ts';

/**
 * Checks that the links of the payment page may lead where the body says. A public key is in every visitor's browser,
 * and whoever finds it there could create pages with the shop's logo that lead elsewhere: its URLs must be on the
 * project's allowed origins, if it has any.
 *
 * @throws RequestError that names the first field that is not allowed
 */
export function checkReturnUrls(
  key: AccessKey,
  body: { readonly success_url?: string; readonly return_url?: string; readonly cancel_url?: string },
): void {
  const { allowOrigins } = key.project;
  if (key.kind !== 'public' || allowOrigins.length === 0) return;
  for (const field of ['success_url', 'return_url', 'cancel_url'] as const) {
    const url = body[field];
    if (url === undefined || allowOrigins.includes(URL.parse(url)?.origin ?? '')) continue;
    throw invalid(
      field,
      `${field} must be on an allowed origin of the project (${allowOrigins.join(', ')}) when a public key is used. Allow its origin with: cointill project set ${key.project.id} --allow-origins …, or create the payment on your server with a secret key.`,
    );
  }
}
