/** The floor: pipes the body of each request, form and all, into one PUT of the same length. */
import { randomUUID } from 'node:crypto';
import { Agent, createServer, request as send } from 'node:http';
import { pipeline } from 'node:stream';

const { PORT, S3_ENDPOINT, S3_BUCKET } = process.env;
const agent = new Agent({ keepAlive: true });

createServer((request, response) => {
  const id = randomUUID();
  const headers = { 'Content-Length': request.headers['content-length'] };
  const fail = () => response.writeHead(502, { 'Content-Length': 0 }).end();
  const put = send(`${S3_ENDPOINT}/${S3_BUCKET}/media/${id}`, { method: 'PUT', agent, headers }, (stored) => {
    stored.resume().on('end', () => {
      if (stored.statusCode !== 200) return fail();
      const body = JSON.stringify({ id });
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': body.length }).end(body);
    });
  });
  pipeline(request, put, (error) => error && fail());
}).listen(Number(PORT), '127.0.0.1');
