import http from 'node:http';

/**
 * A local webhook receiver that counts deliveries and reports on its standard output when it has the requested number.
 */
const wanted = Number(process.env['WANTED'] ?? 0);
let received = 0;
const latencies: number[] = [];
const server = http.createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.end();
    received += 1;
    if (process.env['LATENCY'] === '1') {
      const event = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { created_at: string };
      latencies.push(Date.now() - Date.parse(event.created_at));
    }
    if (received === wanted) process.stdout.write(`${JSON.stringify({ received, at: Date.now(), latencies })}\n`);
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('The receiver has no port.');
  process.stdout.write(`${JSON.stringify({ url: `http://127.0.0.1:${address.port}/` })}\n`);
});
