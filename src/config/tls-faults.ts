/** What is wrong with a server's certificate, by Node's error code; null: it is another error. */
export function certificateFault(code: string): 'authority' | 'host' | 'time' | null {
  if (UNKNOWN_AUTHORITY.has(code)) return 'authority';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'host';
  return code === 'CERT_HAS_EXPIRED' || code === 'CERT_NOT_YET_VALID' ? 'time' : null;
}

const UNKNOWN_AUTHORITY = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_UNTRUSTED',
]);
