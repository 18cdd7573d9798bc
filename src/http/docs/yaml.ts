/** JSON data as YAML 1.2, in blocks. Texts are written as JSON strings, which YAML takes as they are. */
export function toYaml(value: unknown): string {
  return `${blockOf(value, '').trimStart()}\n`;
}

function blockOf(value: unknown, indent: string): string {
  if (value === null || typeof value !== 'object') return ` ${JSON.stringify(value)}`;
  const isList = Array.isArray(value);
  const entries = Object.entries(value);
  if (entries.length === 0) return isList ? ' []' : ' {}';
  return entries
    .map(([key, part]) => `\n${indent}${isList ? '-' : `${keyOf(key)}:`}${blockOf(part, `${indent}  `)}`)
    .join('');
}

/** Words that some reader takes for something else than text (`no`, `200`, `~`) are put in quotes. */
function keyOf(key: string): string {
  return /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_$][\w$-]*$/i.test(key) ? key : JSON.stringify(key);
}
