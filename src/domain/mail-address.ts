/** The HTML standard's rule for e-mail addresses (https://html.spec.whatwg.org/#valid-e-mail-address). */
const EMAIL =
  /^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$/;
/** RFC 5321, 4.5.3.1.3. */
export const MAX_EMAIL = 254;

/** Whether a text is one e-mail address, and not a list of them, an address with a name, or more than one line. */
export function isEmail(text: string): boolean {
  return text.length <= MAX_EMAIL && EMAIL.test(text);
}
