#!/usr/bin/env node
'use strict';
const [major, minor] = process.versions.node.split('.').map(Number);
if (major < 20 || (major === 20 && minor < 19)) {
  process.stderr.write(`berth needs Node 20.19 or newer, and this is Node ${process.versions.node}: install a newer Node.\n`);
  process.exit(70);
}

const { existsSync } = require('node:fs');
const { join } = require('node:path');
const { loadBundle } = require('./load-bundle.js');

const cli = join(__dirname, '../dist/cli.cjs');
if (!existsSync(cli)) {
  process.stderr.write('berth is not built yet: run npm run build in its directory.\n');
  process.exit(70);
}
loadBundle(cli);
