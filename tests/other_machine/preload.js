// Node as it might be on another machine: folders are listed in another order, and it is another year.
// NODE_OPTIONS=--require=tests/other_machine/preload.js
const fs = require('fs');

const readdirSync = fs.readdirSync;
fs.readdirSync = (...given) => readdirSync(...given).reverse();

const now = Date.now;
Date.now = () => now() + 366 * 24 * 3600 * 1000;
