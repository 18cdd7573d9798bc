import { readFileSync } from 'node:fs';
import path from 'node:path';

/**
 * Prints the section of CHANGELOG.md for a tag such as `v1.2.3`; fails if the tag, package.json and CHANGELOG.md
 * disagree.
 */
const ROOT = path.join(import.meta.dirname, '..');
const read = (file: string): string => readFileSync(path.join(ROOT, file), 'utf8');

const tag = process.argv[2] ?? '';
const version = /^v(\d+\.\d+\.\d+)$/.exec(tag)?.[1];
if (version === undefined) throw new Error(`A release's tag is v and a version, such as v1.2.3, not "${tag}".`);

const manifest: unknown = JSON.parse(read('package.json'));
const inManifest = Object(manifest).version;
if (inManifest !== version)
  throw new Error(`package.json says ${inManifest}, the tag ${version}. Set the version first.`);

const sections = read('CHANGELOG.md').split(/^## /m);
const section = sections.find((text) => text.startsWith(`${version} `) || text.startsWith(`${version}\n`));
if (section === undefined)
  throw new Error(`CHANGELOG.md has no section "## ${version}". Give that name to the Unreleased section.`);
console.log(section.slice(section.indexOf('\n')).trim());
