#!/usr/bin/env node
'use strict';
// Everything up to import() is plain ES5, since a Node that is too old must be able to parse this
// file and say so: the program itself would end with a syntax error or a missing module there.

/** `>=22.13` becomes [22, 13]. */
var wanted = require('../package.json').engines.node.match(/\d+/g).map(Number);
var current = process.versions.node.split('.').map(Number);

if (current[0] < wanted[0] || (current[0] === wanted[0] && current[1] < wanted[1])) {
  refuse();
} else {
  silenceSqliteWarning();
  void import('../dist/cli/main.js');
}

/** One sentence, or the error that every command prints with --json; codes as in docs/errors.md. */
function refuse() {
  var message =
    'dialectic needs Node.js ' + wanted.join('.') + ' or newer; this is ' + process.versions.node;
  var action = 'install a newer one from https://nodejs.org or with your version manager';
  var error = {
    code: 'node_unsupported',
    message: message + '.',
    action: 'I' + action.slice(1) + '.',
    retryable: false,
    details: {},
  };
  var isJson = process.argv.indexOf('--json') >= 0;
  console.error(isJson ? JSON.stringify({ error: error }) : message + ': ' + action + '.');
  process.exitCode = 2;
}

/** Node 22 warns at every start that node:sqlite, which locks the data directory, is experimental. */
function silenceSqliteWarning() {
  var emitWarning = process.emitWarning;
  process.emitWarning = function (warning, type) {
    if (type === 'ExperimentalWarning' && String(warning).indexOf('SQLite') === 0) return;
    emitWarning.apply(process, arguments);
  };
}
