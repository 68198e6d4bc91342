'use strict';
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { Script } = require('node:vm');

/**
 * Runs a bundle of the build and returns its exports. V8 takes the compiled code from the cache that the build wrote; where that
 * is missing or was made by another Node, it compiles the source, which takes longer and does the same.
 */
function loadBundle(file) {
  const source = readFileSync(file, 'latin1');
  const script = new Script(source, {
    filename: file,
    cachedData: readCache(file, source),
  });
  const module = { exports: {} };
  script.runInThisContext()(module.exports, createRequire(file), module, file, loadBundle);
  return module.exports;
}

/** V8 compares only the length of the source, so that the name of a cache has the digest that the source ends with. */
function readCache(file, source) {
  const digest = source.slice(source.lastIndexOf('//') + 2).trim();
  try {
    return readFileSync(file.replace(/\.cjs$/, `-${digest}-${process.versions.v8}.cache`));
  } catch (error) {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return undefined;
    throw error;
  }
}

module.exports = { loadBundle };
