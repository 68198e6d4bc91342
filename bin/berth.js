#!/usr/bin/env node
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`berth needs Node 20.19 or newer, and this is Node ${process.versions.node}.\n`);
  process.exit(70);
}

const cli = new URL('../dist/cli.js', import.meta.url);
import(cli.href).catch(async (error) => {
  const { existsSync } = await import('node:fs');
  if (existsSync(cli)) throw error;
  process.stderr.write('berth is not built yet: run npm run build in its directory.\n');
  process.exit(70);
});
