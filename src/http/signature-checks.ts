/** The same check in the languages that most shops are written in; `rawBody` is the body's bytes as received. */
export const SIGNATURE_CHECKS = [
  {
    name: 'Node.js',
    language: 'js',
    code: `import { createHmac, timingSafeEqual } from 'node:crypto';

export function isGenuine(rawBody, signature, secret) {
  const expected = Buffer.from(createHmac('sha256', secret).update(rawBody).digest('hex'));
  const given = Buffer.from(String(signature));
  return given.length === expected.length && timingSafeEqual(given, expected);
}`,
  },
  {
    name: 'Python',
    language: 'python',
    code: `import hashlib
import hmac


def is_genuine(raw_body: bytes, signature: str, secret: str) -> bool:
    expected = hmac.new(secret.encode(), raw_body, hashlib.sha256).hexdigest()
    return hmac.compare_digest(expected.encode(), signature.encode())`,
  },
  {
    name: 'PHP',
    language: 'php',
    code: `function isGenuine(string $rawBody, string $signature, string $secret): bool
{
    return hash_equals(hash_hmac('sha256', $rawBody, $secret), $signature);
}`,
  },
  {
    name: 'Go',
    language: 'go',
    code: `func isGenuine(rawBody []byte, signature, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(rawBody)
	given, err := hex.DecodeString(signature)
	return err == nil && hmac.Equal(given, mac.Sum(nil))
}`,
  },
] as const;
