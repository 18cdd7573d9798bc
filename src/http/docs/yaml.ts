/** JSON data as YAML 1.2, in block style. Texts are written as JSON strings, which are valid YAML. */
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

/** Keys that some YAML reader would not take for text (`no`, `200`, `~`) are quoted. */
function keyOf(key: string): string {
  return /^(?!(?:y|n|yes|no|on|off|true|false|null)$)[a-z_$][\w$-]*$/i.test(key) ? key : JSON.stringify(key);
}
