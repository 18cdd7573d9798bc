const MAX_REASON_LENGTH = 200;

/** All parts of a URL that may be secret, longest first, as written and decoded. */
export function secretsOf(url: URL): readonly string[] {
  const parts = [
    url.href,
    url.username,
    url.password,
    Buffer.from(`${decoded(url.username)}:${decoded(url.password)}`).toString('base64'),
    url.pathname + url.search,
    ...url.pathname.split('/'),
    ...url.searchParams.values(),
  ];
  return parts
    .flatMap((part) => [part, decoded(part)])
    .filter((part) => part.length >= 3)
    .toSorted((a, b) => b.length - a.length);
}

export function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/**
 * Removes secrets, and characters that could control a terminal or forge log lines: anybody may have written a node's
 * text.
 */
export function redact(reason: string, secrets: readonly string[]): string {
  return secrets
    .reduce((text, secret) => text.replaceAll(secret, '***'), reason)
    .replaceAll(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, '\uFFFD')
    .slice(0, MAX_REASON_LENGTH);
}
