'use strict';
/**
 * Preloaded (node --require) into a run of the built program: when it exits, writes what V8 has compiled of the bundle that
 * BERTH_CAPTURE names into the file BERTH_CAPTURE_FILE. With BERTH_CAPTURE_TERMINAL, the program takes its pipes for a terminal.
 */
const { writeFileSync } = require('node:fs');
const { basename } = require('node:path');
const v8 = require('node:v8');
const vm = require('node:vm');

const { BERTH_CAPTURE: bundle, BERTH_CAPTURE_FILE: file, BERTH_CAPTURE_TERMINAL: terminal } = process.env;

// Pipes that look like a terminal: the frontend draws its screen to whoever reads.
if (terminal !== undefined) {
  Object.assign(process.stdin, { isTTY: true, setRawMode: () => process.stdin });
  Object.assign(process.stdout, { isTTY: true, columns: 100, rows: 30 });
}

// V8 refuses code that was compiled under other flags than those it is loaded under, which are the defaults.
v8.setFlagsFromString = () => undefined;

vm.Script = class extends vm.Script {
  constructor(source, options) {
    super(source, options);
    if (basename(options?.filename ?? '') === bundle) process.on('exit', () => writeFileSync(file, this.createCachedData()));
  }
};
