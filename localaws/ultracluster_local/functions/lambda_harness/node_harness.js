// Runs a Node handler: events as lines on stdin, answers as lines on stdout, log on stderr. Started by `lambda_runtime`.
// CDK handlers answer with https.request and no port; only that address is sent to our plain HTTP listener.
const http = require('node:http');
const https = require('node:https');
const path = require('node:path');
const readline = require('node:readline');

const say = process.stdout.write.bind(process.stdout);
process.stdout.write = process.stderr.write.bind(process.stderr);
console.log = console.info = console.warn = console.error;
const [file, name] = process.env._HANDLER.split('.');
let answerTo;
const original = https.request;
https.request = (options, ...rest) =>
  answerTo && options && options.hostname === answerTo.hostname
    ? http.request({ ...options, protocol: 'http:', port: answerTo.port }, ...rest)
    : original(options, ...rest);
const context = {
  functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
  invokedFunctionArn: process.env.LOCAL_AWS_FUNCTION_ARN,
  logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
  logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
  getRemainingTimeInMillis: () => 60000,
};

async function answer({ event, request }) {
  answerTo = event.ResponseURL ? new URL(event.ResponseURL) : undefined;
  try {
    const response = await require(path.join(process.cwd(), file))[name](event, { ...context, awsRequestId: request });
    return { failed: false, response: JSON.stringify(response ?? null) };
  } catch (error) {
    console.error(error);
    return { failed: true, response: JSON.stringify({ errorType: error.name, errorMessage: error.message }) };
  }
}

const lines = readline.createInterface({ input: process.stdin });
let answered = Promise.resolve();
lines.on('line', (line) => {
  answered = answered.then(async () => say(JSON.stringify(await answer(JSON.parse(line))) + '\n'));
});
// The events end with the local AWS. A handler that runs then has a few seconds.
lines.on('close', () => {
  setTimeout(() => process.exit(1), 5000).unref();
  answered.then(() => process.exit(0));
});
