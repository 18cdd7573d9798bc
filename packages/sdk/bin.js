#!/usr/bin/env node
// The library runs on Node.js 20.19 too; the commands keep their place in SQLite, and numbers as they were written.
const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 22 || (major === 22 && minor >= 13)) await import('./dist/commands.js');
else {
  process.stderr.write(`The commands need Node.js 22.13 or later. This is Node.js ${process.versions.node}.\n`);
  process.exitCode = 1;
}
