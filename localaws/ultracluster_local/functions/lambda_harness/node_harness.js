// Runs one Node handler: event on stdin, answer on stdout, log on stderr. Started by `lambda_runtime`.
// CDK handlers answer with https.request and no port; only that address is sent to our plain HTTP listener.
const http = require('node:http');
const https = require('node:https');
const path = require('node:path');

console.log = console.info = console.warn = console.error;
const [file, name] = process.env._HANDLER.split('.');
const chunks = [];
process.stdin.on('data', (chunk) => chunks.push(chunk));
process.stdin.on('end', async () => {
  const event = JSON.parse(Buffer.concat(chunks).toString());
  const answerTo = event.ResponseURL ? new URL(event.ResponseURL) : undefined;
  const original = https.request;
  https.request = (options, ...rest) =>
    answerTo && options && options.hostname === answerTo.hostname
      ? http.request({ ...options, protocol: 'http:', port: answerTo.port }, ...rest)
      : original(options, ...rest);
  const context = {
    awsRequestId: 'local',
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    invokedFunctionArn: process.env.LOCAL_AWS_FUNCTION_ARN,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    getRemainingTimeInMillis: () => 60000,
  };
  const end = (answer, code) => process.stdout.write(JSON.stringify(answer ?? null), () => process.exit(code));
  try {
    end(await require(path.join(process.cwd(), file))[name](event, context), 0);
  } catch (error) {
    console.error(error);
    end({ errorType: error.name, errorMessage: error.message }, 1);
  }
});
