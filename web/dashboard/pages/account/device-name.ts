const BROWSERS = [
  [/Edg\//, 'Edge'],
  [/OPR\//, 'Opera'],
  [/Firefox\//, 'Firefox'],
  [/Chrom(?:e|ium)\//, 'Chrome'],
  [/Safari\//, 'Safari'],
] as const;
const SYSTEMS = [
  [/iPhone|iPad/, 'iOS'],
  [/Android/, 'Android'],
  [/Windows/, 'Windows'],
  [/Mac OS X/, 'macOS'],
  [/Linux/, 'Linux'],
] as const;

/** `Firefox · Windows` for a User-Agent, which may be false; null if none of it is recognized. */
export function deviceName(userAgent: string | null): string | null {
  const named = [BROWSERS, SYSTEMS].map((table) => table.find(([sign]) => sign.test(userAgent ?? ''))?.[1]);
  const known = named.filter((name) => name !== undefined);
  return known.length === 0 ? null : known.join(' · ');
}
